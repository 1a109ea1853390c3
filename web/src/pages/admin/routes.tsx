// The pages of this area.

export const adminRoutes = [] as const;
