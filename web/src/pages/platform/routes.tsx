// The pages of this area.

export const platformRoutes = [] as const;
