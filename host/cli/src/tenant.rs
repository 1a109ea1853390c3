//! `assay tenant`.

use std::process::ExitCode;

use assay_api::tenant::{CreateTenant, Tenant};
use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::ClientOptions;

#[derive(clap::Args)]
pub(super) struct TenantCommand {
    #[command(flatten)]
    client: ClientOptions,
    #[command(subcommand)]
    verb: TenantVerb,
}

#[derive(Subcommand)]
enum TenantVerb {
    /// List all tenants, or only your own without the scope platform:*
    Ls,
    /// Show a tenant's quotas, grants and retention
    Show {
        /// Name of the tenant
        name: String,
    },
    /// Create a tenant
    Create {
        /// Name of the tenant
        name: String,
        #[command(flatten)]
        settings: Settings,
    },
    /// Change a tenant; other settings stay as they are, and the value `none` removes a limit
    Set {
        /// Name of the tenant
        name: String,
        #[command(flatten)]
        settings: Settings,
    },
}

/// A number, or `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bound(Option<u64>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Toolchains {
    All,
    Named(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Hosts(Vec<String>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum YesNo {
    Yes,
    No,
}

#[derive(Debug, Default, clap::Args)]
struct Settings {
    /// Name of the tenant, for people
    #[arg(long)]
    display_name: Option<String>,
    /// Weight of the tenant in a contended pool, relative to the other tenants
    #[arg(long)]
    weight: Option<u32>,
    /// Whether the tenant's workers of a contended pool are shared between its runs
    #[arg(long)]
    share_runs: Option<YesNo>,
    /// Maximum number of a pool's workers that serve the tenant at once, such as cpu=4 or gpu=none;
    /// may be repeated
    #[arg(long, value_name = "POOL=N", value_parser = pool_bound)]
    workers_max: Vec<(String, Bound)>,
    /// Maximum number of open batches
    #[arg(long, value_name = "N", value_parser = bound)]
    open_batches_max: Option<Bound>,
    /// Maximum number of requests per minute; a batch counts with its whole expected size
    #[arg(long, value_name = "N", value_parser = bound)]
    requests_per_minute_max: Option<Bound>,
    /// Maximum size of all stored requests, artifacts, results, logs and components of plugins, such as
    /// 10GiB
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    stored_bytes_max: Option<Bound>,
    /// Whether the tenant's plugins may use GPUs
    #[arg(long)]
    gpu: Option<YesNo>,
    /// Toolchains that the tenant's plugins may use: all, none, or a list of names (a,b)
    #[arg(long, value_parser = toolchains)]
    toolchains: Option<Toolchains>,
    /// Hosts that the tenant's plugins may send requests to: none, or a list such as
    /// api.example.com,*.example.com,private:http://10.0.0.5:8000
    #[arg(long, value_parser = hosts)]
    hosts: Option<Hosts>,
    /// Days for which requests, artifacts, results and logs are kept
    #[arg(long, value_name = "N", value_parser = bound)]
    retention_days: Option<Bound>,
    /// Days for which the times of completed batches are kept
    #[arg(long, value_name = "N", value_parser = bound)]
    history_days: Option<Bound>,
    /// Refuse new batches, single requests and plugins
    #[arg(long, conflicts_with = "resume")]
    suspend: bool,
    /// End the suspension
    #[arg(long)]
    resume: bool,
}

fn bound(text: &str) -> Result<Bound, String> {
    if text == "none" {
        return Ok(Bound(None));
    }
    text.parse().map(|number| Bound(Some(number))).map_err(|_| "write a number, or none".into())
}

fn pool_bound(text: &str) -> Result<(String, Bound), String> {
    let (pool, workers) = text.split_once('=').ok_or("write POOL=N, such as cpu=4")?;
    Ok((pool.into(), bound(workers)?))
}

fn bytes(text: &str) -> Result<Bound, String> {
    const UNITS: [(&str, u64); 7] = [
        ("TiB", 1 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("", 1),
    ];
    let known = |(unit, size): &(&str, u64)| Some((text.strip_suffix(unit)?, *size));
    let (number, size) = UNITS.iter().find_map(known).expect("every text ends in nothing");
    let Bound(number) = bound(number.trim())
        .map_err(|_| "write a number of bytes such as 500MB or 10GiB, or none")?;
    let bytes = number.map(|number| number.checked_mul(size).ok_or("that is too large"));
    Ok(Bound(bytes.transpose()?))
}

fn toolchains(text: &str) -> Result<Toolchains, String> {
    let names = text.split(',').filter(|name| !name.is_empty()).map(str::to_owned);
    Ok(match text {
        "all" => Toolchains::All,
        "none" => Toolchains::Named(Vec::new()),
        _ => Toolchains::Named(names.collect()),
    })
}

/// Hosts are checked by the server.
fn hosts(text: &str) -> Result<Hosts, String> {
    let hosts = text.split(',').map(str::trim).filter(|host| !host.is_empty() && *host != "none");
    Ok(Hosts(hosts.map(str::to_owned).collect()))
}

impl Settings {
    /// The given settings as a JSON merge patch of a tenant's settings.
    fn patch(self) -> Value {
        let mut quotas = Map::new();
        let mut put = |name: &str, bound: Option<Bound>| {
            if let Some(Bound(bound)) = bound {
                quotas.insert(name.into(), json!(bound));
            }
        };
        put("open_batches_max", self.open_batches_max);
        put("requests_per_minute_max", self.requests_per_minute_max);
        put("stored_bytes_max", self.stored_bytes_max);
        if !self.workers_max.is_empty() {
            let pools = self.workers_max.into_iter().map(|(pool, max)| (pool, json!(max.0)));
            quotas.insert("workers_max".into(), Value::Object(pools.collect()));
        }
        let mut patch = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                patch.insert(name.into(), value);
            }
        };
        let some = |map: Map<String, Value>| (!map.is_empty()).then_some(Value::Object(map));
        put("quotas", some(quotas));
        put("display_name", self.display_name.map(Value::String));
        put("weight", self.weight.map(|weight| json!(weight)));
        put("share_runs", self.share_runs.map(|share| json!(share == YesNo::Yes)));
        let suspended = if self.suspend || self.resume { Some(json!(self.suspend)) } else { None };
        put("suspended", suspended);
        let mut grants = Map::new();
        if let Some(gpu) = self.gpu {
            grants.insert("gpu".into(), json!(gpu == YesNo::Yes));
        }
        match self.toolchains {
            None => {}
            Some(Toolchains::All) => drop(grants.insert("toolchains".into(), Value::Null)),
            Some(Toolchains::Named(names)) => {
                grants.insert("toolchains".into(), json!(names));
            }
        }
        if let Some(Hosts(hosts)) = self.hosts {
            grants.insert("hosts".into(), json!(hosts));
        }
        put("grants", some(grants));
        let mut retention = Map::new();
        for (name, days) in
            [("results_days", self.retention_days), ("history_days", self.history_days)]
        {
            if let Some(Bound(days)) = days {
                retention.insert(name.into(), json!(days));
            }
        }
        put("retention", some(retention));
        Value::Object(patch)
    }
}

pub(super) async fn run(options: TenantCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    let tenants = match options.verb {
        TenantVerb::Ls => client.tenants().await?.items,
        TenantVerb::Show { name } => vec![client.tenant(&name).await?],
        TenantVerb::Create { name, settings } => {
            // A new tenant has nothing that a null could remove.
            let settings = serde_json::from_value(without_nulls(settings.patch()))?;
            vec![client.create_tenant(&CreateTenant { name, settings }).await?]
        }
        TenantVerb::Set { name, settings } => {
            vec![client.set_tenant(&name, &settings.patch()).await?]
        }
    };
    options.client.format.print(&tenants, |tenants| tenants.iter().map(text).collect())?;
    Ok(ExitCode::SUCCESS)
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        other => other,
    }
}

fn text(tenant: &Tenant) -> String {
    let settings = &tenant.settings;
    let quotas = &settings.quotas;
    let mut bounds: Vec<String> = quotas
        .workers_max
        .iter()
        .map(|(pool, workers)| format!("at most {workers} workers of {pool}"))
        .collect();
    let mut bound = |bound: Option<u64>, what: &str| {
        bounds.extend(bound.map(|bound| format!("at most {bound} {what}")));
    };
    bound(quotas.open_batches_max.map(Into::into), "open batches");
    bound(quotas.requests_per_minute_max.map(Into::into), "requests a minute");
    bound(quotas.stored_bytes_max, "bytes stored");
    bound(settings.retention.results_days.map(Into::into), "days of results");
    bound(settings.retention.history_days.map(Into::into), "days of history");
    let toolchains = match settings.grants.toolchains.as_deref() {
        None => "all toolchains".into(),
        Some([]) => "no toolchain".into(),
        Some(names) => format!("toolchains {}", names.join(", ")),
    };
    let gpu = if settings.grants.gpu { "GPUs" } else { "no GPU" };
    let mut granted = vec![gpu.to_owned(), toolchains];
    granted.extend(settings.grants.hosts.iter().map(|host| format!("requests to {host}")));
    granted.extend(tenant.storage_roots.iter().map(|root| format!("storage root {root}")));
    let state = match tenant.suspended_at {
        Some(at) => format!("suspended since {at}"),
        None => format!("since {}", tenant.created_at),
    };
    let display = match settings.display_name.as_str() {
        "" => String::new(),
        name => format!("  {name}"),
    };
    let mut text =
        format!("{}{display}  {}  weight {}  {state}\n", tenant.name, tenant.id, settings.weight);
    if !bounds.is_empty() {
        text.push_str(&format!("  {}\n", bounds.join("; ")));
    }
    text.push_str(&format!("  granted: {}\n", granted.join("; ")));
    text
}

#[cfg(test)]
mod tests {
    use assay_api::tenant::TenantSettings;
    use assay_core::id::TenantId;
    use assay_core::time::Micros;
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: Settings,
    }

    fn patch(line: &str) -> Value {
        let words = std::iter::once("set").chain(line.split_whitespace());
        Line::try_parse_from(words).expect("a valid line").settings.patch()
    }

    #[test]
    fn what_is_named_is_in_the_patch() {
        assert_eq!(patch(""), json!({}));
        let line = "--weight 3 --workers-max cpu=4 --workers-max gpu=none --open-batches-max 2 \
                    --stored-bytes-max 10GiB --gpu yes --toolchains a,b --retention-days none \
                    --suspend";
        let expected = json!({
            "weight": 3,
            "suspended": true,
            "quotas": {
                "workers_max": { "cpu": 4, "gpu": null },
                "open_batches_max": 2,
                "stored_bytes_max": 10_u64 << 30,
            },
            "grants": { "gpu": true, "toolchains": ["a", "b"] },
            "retention": { "results_days": null },
        });
        assert_eq!(patch(line), expected);
        let created: TenantSettings =
            serde_json::from_value(without_nulls(patch(line))).expect("settings");
        assert_eq!(created.quotas.workers_max.len(), 1);
        assert_eq!(patch("--resume --toolchains all --gpu no")["grants"]["gpu"], false);
        for odd in ["--workers-max 4", "--stored-bytes-max 1XB", "--suspend --resume"] {
            let words = std::iter::once("set").chain(odd.split_whitespace());
            assert!(Line::try_parse_from(words).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_tenant_reads_well() {
        let mut settings: TenantSettings =
            serde_json::from_value(without_nulls(patch("--workers-max cpu=4 --retention-days 7")))
                .expect("settings");
        settings.grants.toolchains = Some(Vec::new());
        let tenant = Tenant {
            id: TenantId(uuid::Uuid::nil()),
            name: "team".into(),
            created_at: Micros::ZERO,
            suspended_at: None,
            settings,
            storage_roots: vec!["judge".into()],
        };
        let expected = "\
team  00000000-0000-0000-0000-000000000000  weight 1  since 1970-01-01T00:00:00Z
  at most 4 workers of cpu; at most 7 days of results
  granted: no GPU; no toolchain; storage root judge
";
        assert_eq!(text(&tenant), expected);
    }
}
