//! `assay key`.

use std::process::ExitCode;

use assay_api::key::{CreateKey, Key, RotateKey, Scope};
use assay_core::id::KeyId;
use assay_core::limits::{KEY_OVERLAP_HOURS_DEFAULT, KEY_OVERLAP_HOURS_MAX};
use assay_core::time::Micros;
use assay_dispatch::now;
use clap::Subcommand;

use super::ClientOptions;

#[derive(clap::Args)]
pub(super) struct KeyCommand {
    #[command(flatten)]
    client: ClientOptions,
    /// Tenant whose keys are meant [default: your own]
    #[arg(long, global = true)]
    tenant: Option<String>,
    #[command(subcommand)]
    verb: KeyVerb,
}

#[derive(Subcommand)]
enum KeyVerb {
    /// List a tenant's keys
    Ls,
    /// Create a key; its secret is shown only this once
    Create {
        /// Name of the key, for people
        #[arg(long, default_value = "")]
        name: String,
        /// Permission of the key, such as batches:write; may be repeated
        #[arg(long = "scope", required = true, value_parser = scope)]
        scopes: Vec<Scope>,
        /// Plugin that the key may submit to, publish and promote, as NAME or NAME@CHANNEL; reading is
        /// not restricted; may be repeated [default: all plugins]
        #[arg(long = "plugin")]
        plugins: Vec<String>,
        /// Time at which the key expires, such as 2027-01-01T00:00:00Z
        #[arg(long, value_parser = later)]
        expires_at: Option<Micros>,
    },
    /// Give a key a new secret, shown only this once; the old secret keeps working for a while
    Rotate {
        /// Id of the key, as `assay key ls` shows it
        id: KeyId,
        /// Hours for which the old secret keeps working
        #[arg(long, default_value_t = KEY_OVERLAP_HOURS_DEFAULT, value_parser = hours())]
        overlap_hours: u32,
    },
    /// Revoke a key; it stops working immediately
    Revoke {
        /// Id of the key, as `assay key ls` shows it
        id: KeyId,
    },
}

fn hours() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(0..=i64::from(KEY_OVERLAP_HOURS_MAX))
}

fn moment(text: &str) -> Result<Micros, String> {
    serde_json::from_value(text.into())
        .map_err(|_| "write a date and time such as 2027-01-01T00:00:00Z".into())
}

/// A moment to come: a key that has expired is of no use.
fn later(text: &str) -> Result<Micros, String> {
    let at = moment(text)?;
    if at <= now() {
        return Err("the time is past".into());
    }
    Ok(at)
}

fn scope(text: &str) -> Result<Scope, String> {
    Scope::parse(text).ok_or_else(|| {
        let known: Vec<_> = Scope::ALL.into_iter().map(Scope::as_str).collect();
        format!("unknown scope; the scopes are {}", known.join(", "))
    })
}

pub(super) async fn run(options: KeyCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    let tenant = options.tenant.as_deref();
    let keys = match options.verb {
        KeyVerb::Ls => client.keys(tenant).await?.items,
        KeyVerb::Create { name, scopes, plugins, expires_at } => {
            let plugins = (!plugins.is_empty()).then_some(plugins);
            let tenant = options.tenant.clone();
            let wanted = CreateKey { tenant, name, scopes, expires_at, plugins };
            vec![client.create_key(&wanted).await?]
        }
        KeyVerb::Rotate { id, overlap_hours } => {
            vec![client.rotate_key(id, tenant, &RotateKey { overlap_hours }).await?]
        }
        KeyVerb::Revoke { id } => vec![client.revoke_key(id, tenant).await?],
    };
    let at = now();
    options.client.format.print(&keys, |keys| keys.iter().map(|key| text(key, at)).collect())?;
    Ok(ExitCode::SUCCESS)
}

/// One line for a key, with unusual properties at its end.
fn text(key: &Key, now: Micros) -> String {
    let scopes: Vec<_> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    let state = match (key.revoked_at, key.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(at)) if at <= now => "expired",
        (None, _) => "active",
    };
    let used = key.last_used_at.map_or("never used".into(), |at| format!("last used {at}"));
    let mut text = format!(
        "{}  {}  {}  {}  {state}  {used}",
        key.id,
        key.tenant,
        key.prefix,
        scopes.join(",")
    );
    let more = [
        (!key.name.is_empty()).then(|| key.name.clone()),
        key.person.as_ref().map(|person| format!("of {person}")),
        key.expires_at.map(|at| format!("expires {at}")),
        key.plugins.as_ref().map(|plugins| format!("only for {}", plugins.join(", "))),
        key.previous_secret_until.map(|at| format!("old secret valid until {at}")),
    ];
    for part in more.into_iter().flatten() {
        text.push_str("  ");
        text.push_str(&part);
    }
    text.push('\n');
    if let Some(secret) = &key.secret {
        text.push_str(secret);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_well() {
        let key = Key {
            id: KeyId(uuid::Uuid::nil()),
            tenant: "team".into(),
            name: "trainer".into(),
            prefix: "abc".into(),
            scopes: vec![Scope::BatchesRead, Scope::BatchesWrite],
            created_at: Micros::ZERO,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
            previous_secret_until: Some(Micros::ZERO),
            plugins: Some(vec!["math".into(), "code@prod".into()]),
            person: Some("ada@example.com".into()),
            secret: Some("assay_x".into()),
        };
        let expected = "00000000-0000-0000-0000-000000000000  team  abc  batches:read,batches:write  \
                        active  never used  trainer  of ada@example.com  only for math, code@prod  old \
                        secret valid until 1970-01-01T00:00:00Z\nassay_x\n";
        assert_eq!(text(&key, Micros::ZERO), expected);
        let expires = |at| Key { expires_at: Some(at), ..key.clone() };
        assert!(text(&expires(Micros(2)), Micros(2)).contains("  expired  "));
        assert!(text(&expires(Micros(3)), Micros(2)).contains("  active  "));
    }

    #[test]
    fn a_key_expires_in_the_future() {
        assert_eq!(later("2020-01-01T00:00:00Z"), Err("the time is past".into()));
        assert!(later("2999-01-01T00:00:00Z").is_ok());
        assert!(later("tomorrow").is_err());
    }
}
