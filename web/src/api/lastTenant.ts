// The tenant of this browser's last session. The next session begins there, because the pages that ask for it are
// that tenant's.

const KEY = "assay-tenant";

export function lastTenant(): string | undefined {
  try {
    return localStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

export function rememberTenant(tenant: string): void {
  try {
    localStorage.setItem(KEY, tenant);
  } catch {
    // In a browser that stores nothing a session begins in the first tenant.
  }
}
