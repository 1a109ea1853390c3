//! `assay dev`: starts everything on this machine, scores a first batch and prints the next commands.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use assay_api::plugin::PromotePlugin;
use assay_client::score::{self, Summary};
use assay_client::{Client, Error};
use serde_json::json;

use super::score::score_file;
use super::serve::{HostOptions, Interruption, NO_DASHBOARD, hide_environment, wait};
use super::terminal::print_lines;
use assay_fleet::Device;
use assay_http::bootstrap::{FirstAdmin, FirstKey};
use assay_http::has_dashboard;
use assay_server::Server;

const CHANNEL: &str = "prod";
const TENANT: &str = "demo";
/// The plugin of the examples that are printed.
const EXAMPLE: &str = "math@prod";
const NO_PLUGINS: &str = "no plugins are published: no folder `plugins` is beside this program; \
     name a folder of components with --plugins";

#[derive(clap::Args)]
pub(super) struct DevCommand {
    #[command(flatten)]
    host: HostOptions,
    /// Address to listen on; a free port is taken if this one is in use
    #[arg(long, env = "ASSAY_LISTEN", default_value = "127.0.0.1:7700")]
    listen: SocketAddr,
    #[command(flatten)]
    content: Content,
    /// Stop after the batch; exit with 1 if a request ended in an error
    #[arg(long)]
    once: bool,
}

/// The plugins to publish and the file to score after the start.
#[derive(clap::Args)]
struct Content {
    /// Folder with plugin components to publish; the channel `prod` of each plugin is pointed to it
    ///
    /// [default: the folder `plugins` beside this program, where a release has the shipped ones]
    #[arg(long)]
    plugins: Option<PathBuf>,
    /// Hosts that plugins may send requests to, such as private:http://127.0.0.1:8000; without this
    /// option a plugin that sends requests is not published
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    hosts: Vec<String>,
    /// JSON-lines file to score after the start
    #[arg(long)]
    score: Option<PathBuf>,
    /// Plugin that scores the file, as NAME@CHANNEL or NAME@VERSION
    #[arg(long, default_value = EXAMPLE)]
    plugin: String,
    /// Score the sample of a shipped plugin instead; cuda runs in an interpreter if there is no GPU
    #[arg(long, value_enum, conflicts_with_all = ["score", "plugin"])]
    demo: Option<Demo>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Demo {
    Math,
    Code,
    Cuda,
}

impl Demo {
    fn plugin(self) -> &'static str {
        match self {
            Self::Math => "math@prod",
            Self::Code => "code@prod",
            Self::Cuda => "cuda@prod",
        }
    }

    fn sample(self) -> &'static str {
        match self {
            Self::Math => include_str!("../../../plugins/math/sample.jsonl"),
            Self::Code => include_str!("../../../plugins/code/sample.jsonl"),
            Self::Cuda => include_str!("../../../plugins/cuda/sample.jsonl"),
        }
    }
}

pub(super) async fn run(mut options: DevCommand) -> anyhow::Result<ExitCode> {
    options.host.start_logging("warn");
    hide_environment();
    let first_key = FirstKey { tenant: TENANT.into(), file: "dev.key" };
    // One worker runs from the start, so that a first single request does not wait for a process.
    if options.content.demo == Some(Demo::Cuda) {
        options.host.workers.gpu.or_simulated();
    }
    let content = options.content;
    let settings = options.host.settings(free(options.listen), "dev", first_key, 1).await?;
    if settings.programs.gpu.device == Some(Device::Simulated) {
        eprintln!("kernels run on a simulated GPU: rewards are labelled and contain no timing");
    }
    if content.demo == Some(Demo::Cuda) && settings.programs.gpu.toolkit.is_none() {
        eprintln!("this machine has no CUDA compiler: run `assay gpu install-toolchain` first");
    }
    let data = settings.data.clone();
    let mut interruption = Interruption::listen()?;
    eprintln!("starting Assay in {}", settings.data.display());
    settings.storage.iter().for_each(|root| eprintln!("{root}"));
    let server = tokio::select! {
        server = Server::start(settings) => server?,
        () = interruption.came() => return Ok(ExitCode::SUCCESS),
    };
    let work = publish_and_score(content, &server, &mut interruption);
    let scored = match work.await {
        Ok(scored) => scored,
        Err(error) => {
            server.stop().await;
            return Err(error);
        }
    };
    let interrupted = scored.as_ref().is_some_and(|summary| summary.interrupted);
    if options.once || interrupted {
        server.stop().await;
        let went_well = scored.is_none_or(|summary| summary.ok());
        return Ok(if went_well { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    print_next_steps(&server, &data).await;
    wait(server, &mut interruption).await
}

/// Publishes the plugins and scores the file that the options name, if any.
async fn publish_and_score(
    options: Content,
    server: &Server,
    interruption: &mut Interruption,
) -> anyhow::Result<Option<Summary>> {
    let client = Client::new(&server.url, &server.key)?;
    if !options.hosts.is_empty() {
        let grant = json!({ "grants": { "hosts": options.hosts } });
        client.set_tenant(TENANT, &grant).await.context("granting the hosts")?;
    }
    let files = match options.plugins.or_else(shipped_plugins) {
        Some(folder) => components(&folder)?,
        None => {
            eprintln!("{NO_PLUGINS}");
            Vec::new()
        }
    };
    let plugin = match options.demo {
        Some(demo) => demo.plugin(),
        None => options.plugin.as_str(),
    };
    let scores = options.demo.is_some() || options.score.is_some();
    // The first reward does not wait until every plugin is compiled.
    let named = files.iter().any(|file| is_of(file, plugin));
    let (first, later) =
        files.into_iter().partition(|file| !scores || !named || is_of(file, plugin));
    publish(&client, first).await?;
    // The results go to a temporary folder, so that every start scores the whole file.
    let folder = tempfile::tempdir().context("creating a folder for the results")?;
    let file = match (options.demo, options.score) {
        (Some(demo), _) => {
            let file = folder.path().join("sample.jsonl");
            std::fs::write(&file, demo.sample()).context("writing the sample")?;
            file
        }
        (None, Some(file)) => file,
        (None, None) => return Ok(None),
    };
    let mut scoring = score::Options::new(file, plugin.to_owned());
    scoring.output = score::Target::File(folder.path().join("results.jsonl"));
    let mut summary = score_file(&client, &scoring, interruption).await?;
    summary.output = None;
    print_lines(std::iter::once(summary.text().trim_end().to_owned()));
    if !summary.interrupted {
        publish(&client, later).await?;
    }
    Ok(Some(summary))
}

/// The given address, or one with a free port if it is in use.
fn free(wanted: SocketAddr) -> SocketAddr {
    match std::net::TcpListener::bind(wanted) {
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            eprintln!("{wanted} is in use; taking another port");
            SocketAddr::new(wanted.ip(), 0)
        }
        _ => wanted,
    }
}

/// The folder of plugins beside this program, as in a release.
fn shipped_plugins() -> Option<PathBuf> {
    let folder = std::env::current_exe().ok()?.with_file_name("plugins");
    folder.is_dir().then_some(folder)
}

/// The components of a folder, sorted.
fn components(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| format!("reading {}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "wasm"))
        .collect();
    files.sort();
    anyhow::ensure!(!files.is_empty(), "{} has no component (*.wasm)", folder.display());
    Ok(files)
}

/// Whether a file is named after a plugin (`math@prod`), as our builds name them.
fn is_of(file: &Path, plugin: &str) -> bool {
    plugin.split('@').next() == Some(&plugin_name(file))
}

/// The name of the plugin in a file, as our builds name them.
fn plugin_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    stem.strip_prefix("assay_plugin_").unwrap_or(&stem).replace('_', "-")
}

/// Publishes components and points `prod` to each.
async fn publish(client: &Client, files: Vec<PathBuf>) -> anyhow::Result<()> {
    for file in files {
        let component =
            tokio::fs::read(&file).await.with_context(|| format!("reading {}", file.display()))?;
        match client.publish(component.into()).await {
            Ok(plugin) => {
                let version = PromotePlugin { version: plugin.version };
                let plugin = client.promote(&plugin.name, CHANNEL, &version).await?;
                let (version, name) = (plugin.version_name(), &plugin.name);
                eprintln!("plugin {version} is ready as {name}@{CHANNEL}");
            }
            // The plugin changed and its version did not: the published component stays.
            Err(error) if error.code() == Some("conflict") => {
                eprintln!("{} is not published: {error}", file.display());
            }
            Err(Error::Problem(problem)) if problem.code == "not_granted" => {
                eprintln!(
                    "{} is not published: {}. To grant hosts, start with \
                     `assay dev --hosts private:http://127.0.0.1:8000`, for example.",
                    plugin_name(&file),
                    problem.detail.trim_end_matches('.')
                );
            }
            Err(error) => return Err(publish_failed(&file, error)),
        }
    }
    Ok(())
}

fn publish_failed(file: &Path, error: Error) -> anyhow::Error {
    anyhow::Error::from(error).context(format!("publishing {}", file.display()))
}

/// The dashboard's address. The token is in the fragment, which browsers send to no server.
fn dashboard(url: &str, data: &Path) -> String {
    match FirstAdmin::read_token(data) {
        _ if !has_dashboard() => NO_DASHBOARD.to_owned(),
        Some(token) => {
            format!(
                "The dashboard; this link makes its first administrator:\n\n  {url}/sign-in#{token}"
            )
        }
        None => format!("The dashboard: {url}"),
    }
}

/// Prints the address, the key, and examples if their plugin is there. The server goes on where nobody reads them.
async fn print_next_steps(server: &Server, data: &Path) {
    let (url, key) = (&server.url, &server.key);
    let dashboard = dashboard(url, data);
    let show = |text: String| print_lines(std::iter::once(text));
    show(format!(
        r#"
Assay serves on {url}   (Ctrl-C stops it)

{dashboard}

  export ASSAY_URL={url}
  export ASSAY_API_KEY={key}
"#
    ));
    if !has_math(url, key).await {
        show(format!("There is no plugin {EXAMPLE}, so there are no examples to paste."));
        return;
    }
    show(format!(
        r#"One reward with curl:

  curl -s {url}/v1/rewards -H "Authorization: Bearer {key}" -H 'Content-Type: application/json' \
    -d '{{"plugin":"math@prod","response":"The answer is \\boxed{{\\frac{{1}}{{2}}}}","label":"0.5"}}'

The same with Python and no packages:

python3 - <<'END'
import json, urllib.request
call = urllib.request.Request("{url}/v1/rewards", headers={{"Authorization": "Bearer {key}"}},
    data=json.dumps({{"plugin": "math@prod", "response": "A: 42", "label": "42"}}).encode())
print(json.load(urllib.request.urlopen(call))["outcome"])
END
"#
    ));
}

/// Whether the plugin of the examples is published; a list that cannot be had shows none.
async fn has_math(url: &str, key: &str) -> bool {
    let Ok(client) = Client::new(url, key) else { return false };
    let (name, channel) = EXAMPLE.split_once('@').expect("a name and a channel");
    client.plugin_versions(name).await.is_ok_and(|versions| {
        versions.items.iter().any(|version| version.channels.iter().any(|it| it == channel))
    })
}
