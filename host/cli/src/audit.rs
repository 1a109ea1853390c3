//! `assay audit`.

use std::process::ExitCode;

use assay_api::audit::{AuditEntry, AuditFilter};
use assay_core::limits::{AUDIT_ITEMS_DEFAULT, AUDIT_ITEMS_MAX};
use assay_core::time::Micros;
use clap::Subcommand;

use super::terminal::print_lines;
use super::{ClientOptions, Format, print_json};

#[derive(clap::Args)]
pub(super) struct AuditCommand {
    #[command(flatten)]
    client: ClientOptions,
    #[command(subcommand)]
    verb: AuditVerb,
}

#[derive(Subcommand)]
enum AuditVerb {
    /// List administrative actions and what they changed, the latest first
    Ls(Filter),
}

#[derive(clap::Args)]
struct Filter {
    /// Only actions on this tenant
    #[arg(long)]
    tenant: Option<String>,
    /// Only actions of this kind, such as quota.set
    #[arg(long)]
    action: Option<String>,
    /// Only actions by this key (its id or name) or person
    #[arg(long)]
    actor: Option<String>,
    /// Only actions from this time on, such as 2026-09-21T00:00:00Z
    #[arg(long, value_parser = moment)]
    since: Option<Micros>,
    /// Only entries before the one with this number
    #[arg(long)]
    before: Option<i64>,
    /// Maximum number of entries
    #[arg(long, default_value_t = AUDIT_ITEMS_DEFAULT, value_parser = last())]
    last: u32,
}

fn last() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(AUDIT_ITEMS_MAX))
}

fn moment(text: &str) -> Result<Micros, String> {
    serde_json::from_value(text.into())
        .map_err(|_| "write a date and time such as 2026-09-21T00:00:00Z".into())
}

pub(super) async fn run(options: AuditCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    let AuditVerb::Ls(Filter { tenant, action, actor, since, before, last }) = options.verb;
    let filter = AuditFilter { tenant, action, actor, since, before, limit: Some(last) };
    let page = client.audit(&filter).await?;
    match options.client.format {
        Format::Json => print_json(&page)?,
        Format::Text => {
            print_lines(page.items.iter().map(line));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(entry: &AuditEntry) -> String {
    let side = |value: &Option<serde_json::Value>| {
        value.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string)
    };
    let actor = match (&*entry.actor.kind, &entry.actor.tenant) {
        ("platform", _) => "the server".into(),
        (kind, Some(tenant)) => format!("{kind} `{}` of {tenant}", entry.actor.name),
        (kind, None) => format!("{kind} {}", entry.actor.name),
    };
    format!(
        "{}  {}  {}  {} {}  by {actor}  {} -> {}",
        entry.id,
        entry.at,
        entry.tenant.as_deref().unwrap_or("-"),
        entry.action,
        entry.subject,
        side(&entry.before),
        side(&entry.after)
    )
}

#[cfg(test)]
mod tests {
    use assay_api::audit::AuditActor;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_act_is_a_line() {
        let actor = AuditActor {
            kind: "key".into(),
            id: None,
            name: "ops".into(),
            tenant: Some("platform".into()),
        };
        let entry = AuditEntry {
            id: 7,
            at: Micros::ZERO,
            tenant: Some("team".into()),
            actor,
            action: "weight.set".into(),
            subject: "team".into(),
            before: Some(json!(1)),
            after: Some(json!(3)),
        };
        let expected = "7  1970-01-01T00:00:00Z  team  weight.set team  \
                        by key `ops` of platform  1 -> 3";
        assert_eq!(line(&entry), expected);
        assert_eq!(moment("1970-01-01T00:00:00Z"), Ok(Micros::ZERO));
        assert!(moment("yesterday").is_err());
    }
}
