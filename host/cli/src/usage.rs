//! `assay usage`.

use std::process::ExitCode;

use assay_api::tenant::{TenantUsage, Used};
use assay_core::limits::{USAGE_DAYS_DEFAULT, USAGE_DAYS_MAX};

use super::ClientOptions;

#[derive(clap::Args)]
pub(super) struct UsageCommand {
    #[command(flatten)]
    client: ClientOptions,
    /// Tenant to show [default: every tenant that you administer]
    #[arg(long)]
    tenant: Option<String>,
    /// Number of days to show, today included
    #[arg(long, default_value_t = USAGE_DAYS_DEFAULT, value_parser = days())]
    days: u32,
}

fn days() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(USAGE_DAYS_MAX))
}

pub(super) async fn run(options: UsageCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    let names = match options.tenant {
        Some(name) => vec![name],
        None => client.tenants().await?.items.into_iter().map(|tenant| tenant.name).collect(),
    };
    let mut all = Vec::with_capacity(names.len());
    for name in names {
        all.push(client.tenant_usage(&name, options.days).await?);
    }
    options.client.format.print(&all, |all| all.iter().map(text).collect())?;
    Ok(ExitCode::SUCCESS)
}

fn text(usage: &TenantUsage) -> String {
    let used = |Used { used, max }: Used, what: &str| match max {
        Some(max) => format!("{used} of {max} {what}"),
        None => format!("{used} {what}"),
    };
    let mut now = vec![
        used(usage.open_batches, "open batches"),
        used(usage.requests_per_minute, "requests a minute"),
        used(usage.stored_bytes, "bytes stored"),
    ];
    now.extend(usage.workers.iter().map(|(pool, it)| used(*it, &format!("workers of {pool}"))));
    let mut text = format!("{}: {}\n", usage.tenant, now.join("; "));
    for day in &usage.days {
        text.push_str(&format!(
            "  {}  {}  {} requests  {:.3} worker seconds  cost {:.3}\n",
            day.day, day.pool, day.requests, day.worker_seconds, day.cost
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use assay_api::tenant::DayUsage;

    use super::*;

    #[test]
    fn usage_reads_well() {
        let usage = TenantUsage {
            tenant: "team".into(),
            open_batches: Used { used: 1, max: Some(2) },
            requests_per_minute: Used::default(),
            stored_bytes: Used { used: 4_096, max: None },
            workers: BTreeMap::from([("cpu".into(), Used { used: 3, max: Some(4) })]),
            days: vec![DayUsage {
                day: "2026-09-21".into(),
                pool: "cpu".into(),
                requests: 7,
                worker_seconds: 1.5,
                cost: 3.0,
            }],
        };
        let expected = "\
team: 1 of 2 open batches; 0 requests a minute; 4096 bytes stored; 3 of 4 workers of cpu
  2026-09-21  cpu  7 requests  1.500 worker seconds  cost 3.000
";
        assert_eq!(text(&usage), expected);
    }
}
