// The pages of this area.

export const rewardRoutes = [] as const;
