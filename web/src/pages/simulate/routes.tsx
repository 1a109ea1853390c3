// The pages of this area.

export const simulateRoutes = [] as const;
