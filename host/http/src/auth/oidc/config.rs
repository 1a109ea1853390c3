//! The file that names the OpenID provider, read once at the start.
//!
//! ```toml
//! issuer = "https://accounts.example.com"
//! client_id = "assay"
//! client_secret = "env:ASSAY_OIDC_SECRET"   # read from the environment; absent for a public client
//! email_domains = ["example.com"]           # whose addresses may sign in
//! tenant = "research"                       # of who comes without an invitation; absent: nobody does
//! role = "viewer"
//! ```

use std::fmt;
use std::path::Path;

use anyhow::{Context as _, ensure};
use assay_api::people::{PLATFORM_TENANT, Role};
use reqwest::Url;
use serde::Deserialize;

const FROM_ENVIRONMENT: &str = "env:";

#[derive(Clone)]
pub struct OidcConfig {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<String>,
    /// The accepted domains of e-mail addresses, in lower case.
    pub(crate) email_domains: Vec<String>,
    /// The tenant and role of people whom nobody invited.
    pub(crate) welcome: Option<(String, Role)>,
}

impl fmt::Debug for OidcConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Never the secret.
        f.debug_struct("OidcConfig").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    issuer: String,
    client_id: String,
    client_secret: Option<String>,
    email_domains: Vec<String>,
    tenant: Option<String>,
    role: Option<Role>,
}

impl OidcConfig {
    /// Errors name the key and never a secret.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("reading the OpenID file {}", file.display()))?;
        let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self::parse(&text, environment)
            .with_context(|| format!("in the OpenID file {}", file.display()))
    }

    fn parse(text: &str, environment: impl Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        // The parser's whole error would show the line.
        let file: File =
            toml::from_str(text).map_err(|error| anyhow::anyhow!("{}", error.message()))?;
        check_address(&file.issuer).context("`issuer`")?;
        ensure!(!file.client_id.is_empty(), "`client_id` is empty");
        let client_secret = match file.client_secret {
            Some(secret) => Some(match secret.strip_prefix(FROM_ENVIRONMENT) {
                None => secret,
                Some(name) => environment(name).with_context(|| {
                    format!("`client_secret` is read from {name}, which is not set")
                })?,
            }),
            None => None,
        };
        let email_domains: Vec<String> =
            file.email_domains.iter().map(|domain| domain.to_ascii_lowercase()).collect();
        ensure!(!email_domains.is_empty(), "`email_domains` is empty: nobody could sign in");
        let plain = |domain: &String| !domain.is_empty() && !domain.contains(['@', '*', ' ']);
        ensure!(
            email_domains.iter().all(plain),
            "`email_domains` holds domains such as example.com"
        );
        let welcome = match (file.tenant, file.role) {
            (Some(tenant), Some(role)) => {
                let all = tenant == PLATFORM_TENANT && role == Role::Admin;
                ensure!(!all, "who was not invited cannot administer the platform");
                Some((tenant, role))
            }
            (None, None) => None,
            _ => anyhow::bail!("`tenant` and `role` go together"),
        };
        let (issuer, client_id) = (file.issuer, file.client_id);
        Ok(Self { issuer, client_id, client_secret, email_domains, welcome })
    }
}

/// Checks an address that passwords and codes are sent to: it must be encrypted (https) unless it is on
/// this machine.
pub(crate) fn check_address(address: &str) -> anyhow::Result<Url> {
    let url = Url::parse(address).with_context(|| format!("`{address}` is not a URL"))?;
    let host = url.host_str().unwrap_or_default();
    let here = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    ensure!(
        url.scheme() == "https" || (url.scheme() == "http" && here),
        "`{address}` must begin with https://"
    );
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> anyhow::Result<OidcConfig> {
        OidcConfig::parse(text, |name| (name == "SECRET").then(|| "hush".to_owned()))
    }

    const WHOLE: &str = r#"
        issuer = "https://accounts.example.com"
        client_id = "assay"
        client_secret = "env:SECRET"
        email_domains = ["Example.com"]
        tenant = "research"
        role = "trainer"
    "#;

    #[test]
    fn a_file_is_read() {
        let config = parse(WHOLE).expect("all is well");
        assert_eq!(config.client_secret.as_deref(), Some("hush"));
        assert_eq!(config.email_domains, ["example.com"]);
        assert_eq!(config.welcome, Some(("research".into(), Role::Trainer)));
        assert!(!format!("{config:?}").contains("hush"));
        let local = WHOLE.replace("https://accounts.example.com", "http://127.0.0.1:9");
        assert!(parse(&local).is_ok());
    }

    #[test]
    fn mistakes_are_named_without_secrets() {
        for (from, to, expected) in [
            ("https:", "http:", "must begin with https://"),
            ("env:SECRET", "env:OTHER", "is read from OTHER, which is not set"),
            ("[\"Example.com\"]", "[]", "nobody could sign in"),
            ("[\"Example.com\"]", "[\"*\"]", "domains such as example.com"),
            ("role = \"trainer\"", "", "go together"),
            ("role = \"trainer\"", "role = \"king\"", "king"),
            ("client_id = \"assay\"", "", "client_id"),
            ("client_secret", "client_secrets", "client_secrets"),
        ] {
            let told = format!("{:#}", parse(&WHOLE.replace(from, to)).expect_err(to));
            assert!(told.contains(expected), "{told}");
            assert!(!told.contains("hush"), "{told}");
        }
        let all = WHOLE.replace("research", "platform").replace("trainer", "admin");
        assert!(parse(&all).is_err());
    }
}
