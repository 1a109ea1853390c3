//! `assay key`.

use std::process::ExitCode;

use assay_model::api::{CreateKey, Key, RotateKey, Scope};
use assay_model::id::KeyId;
use assay_model::limits::{KEY_OVERLAP_HOURS_DEFAULT, KEY_OVERLAP_HOURS_MAX};
use assay_model::time::Micros;
use clap::Subcommand;

use super::{Connection, Format, print_json};

#[derive(clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    connection: Connection,
    /// How the answer is printed
    #[arg(short = 'o', long = "format", value_enum, default_value = "text", global = true)]
    format: Format,
    /// Another tenant than your own
    #[arg(long, global = true)]
    tenant: Option<String>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List a tenant's keys
    Ls,
    /// Make a key; it is shown this once
    Create {
        /// What the key is for
        #[arg(long, default_value = "")]
        name: String,
        /// May be repeated
        #[arg(long = "scope", required = true, value_parser = scope)]
        scopes: Vec<Scope>,
        /// A plugin whose batches it may announce, as NAME or NAME@CHANNEL; may be repeated; without
        /// any it is for all of them
        #[arg(long = "plugin")]
        plugins: Vec<String>,
        /// When it ends, such as 2027-01-01T00:00:00Z
        #[arg(long, value_parser = moment)]
        expires_at: Option<Micros>,
    },
    /// Give a key another secret, shown this once; the old one works for a while longer
    Rotate {
        id: KeyId,
        /// How long the old secret works on
        #[arg(long, default_value_t = KEY_OVERLAP_HOURS_DEFAULT, value_parser = hours())]
        overlap_hours: u32,
    },
    /// Revoke a key at once
    Revoke { id: KeyId },
}

fn hours() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(0..=i64::from(KEY_OVERLAP_HOURS_MAX))
}

fn moment(text: &str) -> Result<Micros, String> {
    serde_json::from_value(text.into())
        .map_err(|_| "write a date and time such as 2027-01-01T00:00:00Z".into())
}

fn scope(text: &str) -> Result<Scope, String> {
    Scope::parse(text).ok_or_else(|| {
        let known: Vec<_> = Scope::ALL.into_iter().map(Scope::as_str).collect();
        format!("there is no such scope; there are {}", known.join(", "))
    })
}

pub(super) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let client = options.connection.client()?;
    let tenant = options.tenant.as_deref();
    let keys = match options.verb {
        Verb::Ls => client.keys(tenant).await?.items,
        Verb::Create { name, scopes, plugins, expires_at } => {
            let plugins = (!plugins.is_empty()).then_some(plugins);
            let tenant = options.tenant.clone();
            let wanted = CreateKey { tenant, name, scopes, expires_at, plugins };
            vec![client.create_key(&wanted).await?]
        }
        Verb::Rotate { id, overlap_hours } => {
            vec![client.rotate_key(id, tenant, &RotateKey { overlap_hours }).await?]
        }
        Verb::Revoke { id } => vec![client.revoke_key(id, tenant).await?],
    };
    match options.format {
        Format::Json => print_json(&keys)?,
        Format::Text => keys.iter().for_each(|key| print!("{}", text(key))),
    }
    Ok(ExitCode::SUCCESS)
}

/// What is not the usual stands at the end, in words.
fn text(key: &Key) -> String {
    let scopes: Vec<_> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    let state = if key.revoked_at.is_some() { "revoked" } else { "active" };
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
        key.expires_at.map(|at| format!("until {at}")),
        key.plugins.as_ref().map(|plugins| format!("for {} alone", plugins.join(", "))),
        key.previous_secret_until.map(|at| format!("its old secret until {at}")),
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
            secret: Some("assay_x".into()),
        };
        let expected = "00000000-0000-0000-0000-000000000000  team  abc  batches:read,batches:write  \
                        active  never used  trainer  for math, code@prod alone  its old secret until \
                        1970-01-01T00:00:00Z\nassay_x\n";
        assert_eq!(text(&key), expected);
    }
}
