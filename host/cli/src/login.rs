//! `assay whoami`, and the sign-in options of `serve` and `dev`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use assay_api::people::Session;
use reqwest::Url;

use super::ClientOptions;
use assay_http::{OidcConfig, SignInConfig};

#[derive(clap::Args)]
pub(super) struct SignInOptions {
    /// Address at which browsers reach this server, such as https://assay.example.com; with https,
    /// cookies are sent over encrypted connections only
    #[arg(long, env = "ASSAY_PUBLIC_URL", value_parser = public_url)]
    public_url: Option<Url>,
    /// Address of a proxy in front of this server whose X-Forwarded-For header is trusted; may be
    /// repeated
    #[arg(long, value_name = "ADDRESS")]
    proxy: Vec<IpAddr>,
    /// TOML file that configures an OpenID provider for sign-in
    #[arg(long, env = "ASSAY_OIDC", value_name = "FILE")]
    oidc: Option<PathBuf>,
}

impl SignInOptions {
    pub(super) fn config(self) -> anyhow::Result<SignInConfig> {
        let oidc = self.oidc.as_deref().map(OidcConfig::read).transpose()?;
        Ok(SignInConfig { public_url: self.public_url, proxies: self.proxy, oidc })
    }
}

fn public_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.path() == "/"
            && url.query().is_none()
            && url.username().is_empty()
    });
    url.ok_or_else(|| "write an address without a path, such as https://assay.example.com".into())
}

#[derive(clap::Args)]
pub(super) struct WhoamiCommand {
    #[command(flatten)]
    client: ClientOptions,
}

pub(super) async fn run(options: WhoamiCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    let session = client.session().await.context("asking the server about the key")?;
    options.client.format.print(&session, line)?;
    Ok(ExitCode::SUCCESS)
}

fn line(session: &Session) -> String {
    let who = match (&session.person, &session.key) {
        (Some(person), _) => person.email.clone(),
        (None, Some(key)) if key.name.is_empty() => format!("key {}", key.id),
        (None, Some(key)) => format!("key {} ({})", key.id, key.name),
        (None, None) => "unknown".into(),
    };
    let scopes: Vec<_> = session.scopes.iter().map(|scope| scope.as_str()).collect();
    format!("{who}  {}  {}\n", session.tenant, scopes.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_an_origin() {
        for good in ["https://assay.example.com", "http://127.0.0.1:7700/"] {
            assert!(public_url(good).is_ok(), "{good}");
        }
        for odd in ["assay.example.com", "https://a/b", "https://a/?b", "ftp://a", "https://u@a"] {
            assert!(public_url(odd).is_err(), "{odd}");
        }
    }
}
