//! The file that holds secrets for plugins' requests, read once at the start.
//!
//! ```toml
//! [secrets.openai]
//! tenants = ["demo"]              # or ["*"], for all
//! host = "api.openai.com"         # as in a tenant's grant: scheme, port and all
//! header = "authorization"
//! prefix = "Bearer "              # before the value; nothing unless given
//! value = "env:OPENAI_API_KEY"    # read from the environment, or the text itself
//! ```
//!
//! A plugin names a secret and never sees it: the sandbox adds the header to a request to that host.
//! No value is ever shown, not even in an error.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::{Context as _, ensure};
use assay_core::limits;
use assay_core::outbound::HostPattern;
use assay_core::plugin::check_name;
use assay_wire::proto;
use serde::Deserialize;

const ALL_TENANTS: &str = "*";
const FROM_ENVIRONMENT: &str = "env:";

/// All secrets of a server; none where no file was given.
#[derive(Debug, Default)]
pub struct Secrets {
    all: Vec<Secret>,
}

struct Secret {
    tenants: Vec<String>,
    sent: proto::Secret,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "secret `{}` for {}", self.sent.name, self.sent.host)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    secrets: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    tenants: Vec<String>,
    host: String,
    header: String,
    #[serde(default)]
    prefix: String,
    value: String,
}

impl Secrets {
    /// Errors name the secret and the key, and say what to do.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let shown = file.display();
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("reading the file of secrets {shown}"))?;
        let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self::parse(&text, environment).with_context(|| format!("in the file of secrets {shown}"))
    }

    fn parse(text: &str, environment: impl Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        // The parser's own text would show the line.
        let file: File = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(1, |before| before.matches('\n').count() + 1);
            anyhow::anyhow!(
                "line {line}: a secret is a table [secrets.NAME] with tenants, host, header and value"
            )
        })?;
        let count = file.secrets.len();
        let max = limits::SECRETS_MAX;
        ensure!(count <= max, "there are {count} secrets, the limit is {max}");
        let read = |(name, entry): (String, Entry)| {
            let secret = entry.read(&name, &environment);
            secret.with_context(|| format!("secret `{name}`"))
        };
        Ok(Self { all: file.secrets.into_iter().map(read).collect::<Result<_, _>>()? })
    }

    /// The secrets that the tenant of this name may use.
    pub fn of<'a>(&'a self, tenant: &'a str) -> impl Iterator<Item = &'a proto::Secret> {
        let granted = move |secret: &&Secret| {
            secret.tenants.iter().any(|name| name == ALL_TENANTS || name == tenant)
        };
        self.all.iter().filter(granted).map(|secret| &secret.sent)
    }
}

impl Entry {
    fn read(
        self,
        name: &str,
        environment: &impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Secret> {
        let invalid = anyhow::Error::msg;
        check_name("secret", name, limits::PLUGIN_NAME_BYTES_MAX).map_err(invalid)?;
        self.host.parse::<HostPattern>().map_err(invalid).context("`host`")?;
        let header = self.header.to_ascii_lowercase();
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        ensure!(
            !header.is_empty() && header.len() <= 64 && header.chars().all(plain),
            "`header` must be a header's name, such as authorization"
        );
        let value = match self.value.strip_prefix(FROM_ENVIRONMENT) {
            None => self.value,
            Some(variable) => environment(variable)
                .with_context(|| format!("`value` is read from {variable}, which is not set"))?,
        };
        let value = format!("{}{value}", self.prefix);
        ensure!(
            !value.is_empty() && value.len() <= limits::SECRET_BYTES_MAX,
            "`value` must have 1 to {} bytes",
            limits::SECRET_BYTES_MAX
        );
        ensure!(
            value.bytes().all(|byte| (b' '..=b'~').contains(&byte)),
            "`value` must be one line of plain characters"
        );
        let sent = proto::Secret { name: name.into(), host: self.host, header, value };
        Ok(Secret { tenants: self.tenants, sent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> anyhow::Result<Secrets> {
        Secrets::parse(text, |name| (name == "KEY").then(|| "hush-hush".to_owned()))
    }

    #[test]
    fn secrets_are_read_and_never_shown() {
        let secrets = parse(
            r#"
            [secrets.judge]
            tenants = ["demo"]
            host = "api.example.com"
            header = "Authorization"
            prefix = "Bearer "
            value = "env:KEY"
            [secrets.all]
            tenants = ["*"]
            host = "private:http://10.0.0.5:8000"
            header = "x-api-key"
            value = "plain"
            "#,
        );
        let secrets = secrets.expect("valid");
        let of = |tenant| secrets.of(tenant).map(|secret| secret.name.as_str()).collect::<Vec<_>>();
        assert_eq!(of("demo"), ["all", "judge"]);
        assert_eq!(of("other"), ["all"]);
        let judge = secrets.of("demo").nth(1).expect("granted");
        assert_eq!(
            (judge.header.as_str(), judge.value.as_str()),
            ("authorization", "Bearer hush-hush")
        );
        assert!(!format!("{secrets:?}").contains("hush"), "{secrets:?}");
    }

    #[test]
    fn a_mistake_is_named_without_the_value() {
        let entry = |change: &str| {
            let mut lines = vec![
                "[secrets.judge]",
                "tenants = [\"demo\"]",
                "host = \"api.example.com\"",
                "header = \"authorization\"",
                "value = \"hush-hush\"",
            ];
            let key = change.split(' ').next().unwrap_or_default();
            lines.retain(|line| !line.starts_with(key));
            lines.push(change);
            lines.join("\n")
        };
        for (text, says) in [
            (entry("host = \"*\""), "secret `judge`: `host`"),
            (entry("header = \"a b\""), "`header` must be"),
            (entry("value = \"env:MISSING\""), "MISSING, which is not set"),
            (entry("value = \"hush-hush\\r\\nx: y\""), "one line of plain characters"),
            (entry("value = 7"), "a secret is a table"),
            (entry("color = 7"), "a secret is a table"),
            ("[secrets.judge]\nvalue = \"hush-hush".into(), "line 2"),
        ] {
            let refused = format!("{:#}", parse(&text).expect_err("refused"));
            assert!(refused.contains(says), "{text}: {refused}");
            assert!(!refused.contains("hush"), "{refused}");
        }
    }
}
