// The pages of this area.

export const pluginRoutes = [] as const;
