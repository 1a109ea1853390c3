//! `assay incident`.

use std::process::ExitCode;

use assay_api::acknowledgement::{AcknowledgeIncident, Acknowledgement};
use assay_api::operations::{Incident, IncidentFilter, IncidentKind};
use assay_core::limits::INCIDENT_MUTE_HOURS_MAX;
use clap::Subcommand;

use super::ClientOptions;
use super::table::table;

#[derive(clap::Args)]
pub(super) struct IncidentCommand {
    #[command(flatten)]
    client: ClientOptions,
    #[command(subcommand)]
    verb: IncidentVerb,
}

#[derive(Subcommand)]
enum IncidentVerb {
    /// List incidents in groups of one kind, run and pool, the latest first
    Ls {
        /// Kind of the incidents, such as batch_late
        #[arg(long, value_parser = kind)]
        kind: Option<IncidentKind>,
        /// Name of the run that the incidents belong to
        #[arg(long)]
        run: Option<String>,
        /// Leave acknowledged incidents out
        #[arg(long)]
        open: bool,
        /// List each incident by itself
        #[arg(long)]
        each: bool,
        /// List the incidents of all tenants; needs the scope platform:*
        #[arg(long)]
        all: bool,
        /// Maximum number of incidents
        #[arg(long, default_value_t = 50)]
        last: u32,
    },
    /// Acknowledge an incident and earlier ones of the same kind, run and pool
    Acknowledge {
        /// Id of the incident, as `assay incident ls` shows it
        id: i64,
        /// Hours for which further incidents like it are acknowledged in advance
        #[arg(long, default_value_t = 0, value_parser = hours())]
        mute_hours: u32,
    },
    /// Withdraw the acknowledgement of an incident, and end its muting
    Reopen {
        /// Id of the incident, as `assay incident ls` shows it
        id: i64,
    },
}

fn hours() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(0..=i64::from(INCIDENT_MUTE_HOURS_MAX))
}

pub(super) fn kind(text: &str) -> Result<IncidentKind, String> {
    IncidentKind::parse(text).ok_or_else(|| {
        let known: Vec<_> = IncidentKind::ALL.into_iter().map(IncidentKind::as_str).collect();
        format!("unknown kind; the kinds are {}", known.join(", "))
    })
}

pub(super) async fn run(options: IncidentCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    let format = options.client.format;
    match options.verb {
        IncidentVerb::Ls { kind, run, open, each, all, last } => {
            let filter = IncidentFilter {
                all,
                kind,
                run,
                grouped: !each,
                open,
                limit: Some(last),
                ..IncidentFilter::default()
            };
            let page = client.incidents(&filter).await?;
            format.print(&page, |page| text(&page.items))?;
        }
        IncidentVerb::Acknowledge { id, mute_hours } => {
            let call = AcknowledgeIncident { mute_hours };
            let acknowledged = client.acknowledge_incident(id, &call).await?;
            format.print(&acknowledged, |it| format!("{}\n", sentence(it)))?;
        }
        IncidentVerb::Reopen { id } => client.reopen_incident(id).await?,
    }
    Ok(ExitCode::SUCCESS)
}

fn sentence(Acknowledgement { by, until, .. }: &Acknowledgement) -> String {
    format!("acknowledged by {by} up to {until}")
}

fn text(incidents: &[Incident]) -> String {
    const HEAD: [&str; 7] = ["ID", "LAST", "TENANT", "KIND", "COUNT", "STATE", "DETAIL"];
    table(HEAD, incidents.iter().map(row))
}

fn row(incident: &Incident) -> [String; 7] {
    let state = incident.acknowledged.as_ref().map_or("open".into(), sentence);
    [
        incident.id.to_string(),
        incident.at.to_string(),
        incident.tenant.clone().unwrap_or_else(|| "platform".into()),
        incident.kind.as_str().into(),
        incident.count.to_string(),
        state,
        incident.detail.clone(),
    ]
}

#[cfg(test)]
mod tests {
    use assay_core::time::Micros;

    use super::*;

    #[test]
    fn a_list_reads_well() {
        let open = Incident {
            id: 7,
            at: Micros::ZERO,
            tenant: None,
            kind: IncidentKind::WorkerDied,
            pool: Some("cpu".into()),
            batch: None,
            run: None,
            code: None,
            count: 2,
            detail: "it is gone".into(),
            acknowledged: None,
        };
        let seen = Acknowledgement { at: Micros::ZERO, by: "ada".into(), until: Micros::ZERO };
        let seen = Incident { id: 12, acknowledged: Some(seen), ..open.clone() };
        let expected = "\
ID  LAST                  TENANT    KIND         COUNT  STATE                                           DETAIL
7   1970-01-01T00:00:00Z  platform  worker_died  2      open                                            it is gone
12  1970-01-01T00:00:00Z  platform  worker_died  2      acknowledged by ada up to 1970-01-01T00:00:00Z  it is gone
";
        assert_eq!(text(&[open, seen]), expected);
    }
}
