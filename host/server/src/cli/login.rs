//! How people sign in: what `serve` and `dev` take, and `assay whoami`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use assay_model::people::Session;
use reqwest::Url;

use super::{Connection, Format, print_json};
use crate::http::{OidcConfig, SignInConfig};

#[derive(clap::Args)]
pub(super) struct SignInOptions {
    /// What browsers call this server, such as https://assay.example.com; with https its cookies
    /// travel encrypted alone
    #[arg(long, env = "ASSAY_PUBLIC_URL", value_parser = public_url)]
    public_url: Option<Url>,
    /// A proxy in front of this server, which is believed about where a call comes from
    /// (X-Forwarded-For); may be repeated
    #[arg(long, value_name = "ADDRESS")]
    proxy: Vec<IpAddr>,
    /// TOML file that names an OpenID provider to sign in by
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
pub(super) struct Options {
    #[command(flatten)]
    connection: Connection,
    /// How the answer is printed
    #[arg(short = 'o', long = "format", value_enum, default_value = "text")]
    format: Format,
}

pub(super) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let client = options.connection.client()?;
    let session = client.session().await.context("asking who this is")?;
    match options.format {
        Format::Json => print_json(&session)?,
        Format::Text => println!("{}", line(&session)),
    }
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
    format!("{who}  {}  {}", session.tenant, scopes.join(","))
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
