// Sign-in by the OpenID provider: the address that begins it, and the texts of its refusals.

/** The address that begins a sign-in, for the page that asks and in its tenant. */
export function startOf(back: string | undefined, tenant: string | undefined): string {
  const query = new URLSearchParams({ ...(back && { back }), ...(tenant && { tenant }) });
  return query.size > 0 ? `/v1/session/oidc?${query}` : "/v1/session/oidc";
}

/** Maps the code to a fixed text, because the URL may contain any text. */
export function refusal(code: string): string {
  switch (code) {
    case "oidc_refused":
      return "Your organisation's account has no access here. Ask an administrator to invite you.";
    case "oidc_state_unknown":
      return "This sign-in has expired or was started in another browser. Start again.";
    case "oidc_provider_failed":
      return "Your organisation's sign-in does not work at the moment. Try again later.";
    case "oidc_not_configured":
      return "This server has no sign-in with your organisation. Sign in with a password.";
    case "no_membership":
      return "You belong to no tenant. Ask an administrator of a tenant to add you.";
    case "too_many_attempts":
      return "Too many attempts to sign in. Wait a minute, then try again.";
    default:
      return "The sign-in with your organisation failed. Try again, or ask an administrator.";
  }
}
