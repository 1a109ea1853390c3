//! `assay-seed`: fills a database with plausible ended batches, so that the dashboard can be tried and
//! measured with many rows.
//!
//! Every row is written by the statements of a live server, and no existing row is changed. The
//! same seed gives the same requests; ids and times follow the clock.

mod scenario;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use assay_api::key::Scope;
use assay_api::tenant::TenantSettings;
use assay_core::id::{Digest, TenantId};
use assay_core::limits;
use assay_core::plugin::check_name;
use assay_core::time::Micros;
use assay_dispatch::now;
use assay_http::NewSecret;
use assay_store::audit::Actor;
use assay_store::keys::NewKey;
use assay_store::plugins::NewPlugin;
use assay_store::runs::RunRow;
use assay_store::{Store, StoreError};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use tokio::sync::mpsc;

use scenario::{Plan, PlannedRun, SeededBatch};

/// Batches that are made before they are written.
const BATCHES_AHEAD: usize = 2;

/// Fill a database with ended batches, to try the dashboard with many rows.
#[derive(Parser)]
#[command(name = "assay-seed", version, max_term_width = 100)]
struct Options {
    /// Data folder, as for `assay serve`; no server may be running on it
    #[arg(long)]
    data: Option<PathBuf>,
    /// URL of a PostgreSQL 14 or newer [default: a private cluster in the data folder]
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    /// Number of batches over all tenants
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batches: u32,
    /// Number of requests in each batch
    #[arg(long, default_value_t = 2_048, value_parser = clap::value_parser!(u32).range(16..=i64::from(limits::BATCH_REQUESTS_MAX)))]
    size: u32,
    /// Number of batches of a run
    #[arg(long, default_value_t = 75, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    run_batches: u32,
    /// Number of words of a response, drawn as seldom as words of a language are; 0 for a fixed sentence
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    words: u32,
    /// Number of days, up to now, over which the batches are spread
    #[arg(long, default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..=365))]
    days: u32,
    /// Tenant that gets batches, the first most of them; may be repeated
    #[arg(long = "tenant", default_values_t = ["platform".to_owned(), "vision".to_owned(), "robotics".to_owned()])]
    tenants: Vec<String>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The printed result: the tenants that got batches, and a key for each.
#[derive(Serialize)]
struct Seeded {
    tenants: Vec<SeededTenant>,
    batches: u32,
    requests: u64,
}

#[derive(Serialize)]
struct SeededTenant {
    name: String,
    key: String,
    runs: Vec<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Options::parse()).await {
        Ok(seeded) => {
            println!("{seeded}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("assay-seed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> anyhow::Result<String> {
    for name in &options.tenants {
        check_name("tenant", name, limits::PLUGIN_NAME_BYTES_MAX).map_err(anyhow::Error::msg)?;
    }
    let (cluster, url) = database(&options).await?;
    let store = Store::connect(&url).await.context("connecting to the database")?;
    let seeded = seed(&store, &options).await;
    store.close().await;
    if let Some(cluster) = cluster {
        cluster.stop().await;
    }
    Ok(serde_json::to_string_pretty(&seeded?)?)
}

async fn database(options: &Options) -> anyhow::Result<(Option<assay_postgres::Cluster>, String)> {
    if let Some(url) = &options.database_url {
        return Ok((None, url.clone()));
    }
    let data = match &options.data {
        Some(data) => std::path::absolute(data).context("finding the data folder")?,
        None => assay_postgres::default_data_folder()?,
    };
    let cluster = assay_postgres::Cluster::start(assay_postgres::Options { data }).await?;
    let url = cluster.url().to_owned();
    Ok((Some(cluster), url))
}

async fn seed(store: &Store, options: &Options) -> anyhow::Result<Seeded> {
    let plan = Plan {
        batches: options.batches,
        size: options.size,
        run_batches: options.run_batches,
        words: options.words,
        until: now(),
        days: options.days,
        seed: options.seed,
    };
    let mut seeded = Seeded { tenants: Vec::new(), batches: 0, requests: 0 };
    let mut runs = Vec::new();
    for (at, (name, batches)) in plan.shares(&options.tenants).into_iter().enumerate() {
        let tenant = tenant(store, &name).await?;
        let own = plan.runs(tenant, at, batches);
        for run in &own {
            pin(store, run).await?;
        }
        let key = key(store, tenant).await?;
        let names = own.iter().map(|run| run.name.clone()).collect();
        seeded.tenants.push(SeededTenant { name, key, runs: names });
        runs.extend(own);
    }
    let progress = ProgressBar::new(options.batches.into());
    progress
        .set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} batches, {eta} left")?);
    let (made, mut batches) = mpsc::channel::<SeededBatch>(BATCHES_AHEAD);
    let making = tokio::task::spawn_blocking(move || {
        for batch in plan.made(&runs) {
            // The writer has failed and says why.
            if made.blocking_send(batch).is_err() {
                return;
            }
        }
    });
    while let Some(batch) = batches.recv().await {
        store.write_ended(&batch.admitted, &batch.recorded).await?;
        seeded.batches += 1;
        seeded.requests += u64::from(options.size);
        progress.inc(1);
    }
    making.await.context("making batches")?;
    progress.finish_and_clear();
    store.analyze().await?;
    Ok(seeded)
}

async fn tenant(store: &Store, name: &str) -> Result<TenantId, StoreError> {
    match store.tenant_by_name(name).await {
        Ok(tenant) => Ok(tenant.id),
        Err(StoreError::NotFound(_)) => {
            let settings = TenantSettings::default();
            Ok(store.create_tenant(name, &settings, &Actor::Platform, now()).await?.id)
        }
        Err(error) => Err(error),
    }
}

async fn key(store: &Store, tenant: TenantId) -> Result<String, StoreError> {
    let secret = NewSecret::generate("seed");
    let scopes: Vec<Scope> =
        Scope::ALL.into_iter().filter(|&scope| scope != Scope::Platform).collect();
    let key = NewKey {
        tenant,
        name: "seed",
        prefix: &secret.prefix,
        secret_hash: secret.hash,
        scopes: &scopes,
        plugins: None,
        created_at: now(),
        expires_at: None,
        person: None,
    };
    store.create_key(key, &Actor::Platform).await?;
    Ok(secret.key)
}

/// Writes the run and its plugin version. The version has no component, as no worker runs it.
async fn pin(store: &Store, run: &PlannedRun) -> Result<(), StoreError> {
    let description = run.plugin.description();
    let digest: Digest = run.digest();
    let at: Micros = run.began_at;
    let plugin = NewPlugin {
        tenant: run.tenant,
        digest,
        bytes: 0,
        description: &description,
        imports: &[],
        cases: &[],
    };
    store.publish_plugin(plugin, &Actor::Platform, at).await?;
    let row = RunRow {
        plugin: description.name,
        version: description.version,
        digest,
        settings: run.settings.clone(),
    };
    store.pin_run(run.tenant, &run.name, row, at).await?;
    Ok(())
}
