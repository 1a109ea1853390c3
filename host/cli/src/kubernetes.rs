//! The file of `--kubernetes`, read once at the start.
//!
//! ```yaml
//! server: assay:7701        # where Pods reach --worker-listen
//! namespace: assay          # that of the server itself without it
//! join: token               # by Kubernetes' own tokens; `ticket`: by a secret in the Pod
//! pools:
//!   cpu:
//!     worker: ["--weaker", "cgroups"]   # options of `assay-worker serve`
//!     pod:                  # a Pod; its name, some labels, and the worker's arguments are filled in
//!       spec:
//!         containers:
//!           - { name: worker, image: "assay-worker:0.1.0" }
//! ```

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use assay_kubernetes::KubernetesFile;

#[derive(clap::Args)]
pub(super) struct KubernetesOptions {
    /// YAML file with the pools whose workers are Pods of Kubernetes (pools.NAME with a `pod`, and options in
    /// `worker`); needs --worker-listen
    #[arg(id = "kubernetes", long = "kubernetes", env = "ASSAY_KUBERNETES", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl KubernetesOptions {
    /// The pools whose workers are Pods, if there are any.
    pub(super) fn read(&self) -> anyhow::Result<Option<KubernetesFile>> {
        self.file.as_deref().map(read).transpose()
    }
}

fn read(file: &Path) -> anyhow::Result<KubernetesFile> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("reading the file of --kubernetes, {}", file.display()))?;
    parse(&text).with_context(|| format!("in the file of --kubernetes, {}", file.display()))
}

fn parse(text: &str) -> anyhow::Result<KubernetesFile> {
    let file: KubernetesFile = serde_saphyr::from_str(text)?;
    file.check()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use assay_kubernetes::PodJoin;

    use super::*;

    const GOOD: &str = "
server: assay:7701
pools:
  cpu:
    worker: [--weaker, cgroups]
    pod:
      spec:
        containers:
          - name: worker
            image: assay-worker:0.1.0
            resources: { limits: { memory: 4Gi } }
";

    #[test]
    fn a_file_names_pools_with_their_pods() {
        let file = parse(GOOD).expect("is good");
        assert_eq!(file.server.as_deref(), Some("assay:7701"));
        assert_eq!(file.join, PodJoin::Token);
        let by_tickets = parse(&GOOD.replacen("pools:", "join: ticket\npools:", 1));
        assert_eq!(by_tickets.expect("is good").join, PodJoin::Ticket);
        assert_eq!(file.pools["cpu"].worker, ["--weaker", "cgroups"]);
    }

    #[test]
    fn errors_name_the_key() {
        for (from, to, said) in [
            ("worker: [", "workers: [", "workers"),
            ("assay:7701", "assay", "HOST:PORT"),
            ("name: worker", "name: other", "`cpu`"),
            ("cpu:", "CPU:", "`CPU`"),
            ("pools:", "join: secret\npools:", "secret"),
        ] {
            let error = parse(&GOOD.replacen(from, to, 1)).expect_err("is refused");
            assert!(format!("{error:#}").contains(said), "{to}: {error:#}");
        }
    }
}
