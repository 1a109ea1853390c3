//! A PostgreSQL for a test of its own.

use assay_postgres::{Cluster, Options};
use tempfile::TempDir;

use crate::Store;

/// A cluster in a folder that is deleted with the value.
pub(crate) struct TestCluster {
    cluster: Cluster,
    _folder: TempDir,
}

impl TestCluster {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("database");
        let cluster = Cluster::start(Options { data }).await.expect("PostgreSQL starts");
        Self { cluster, _folder: folder }
    }

    pub(crate) fn url(&self) -> &str {
        self.cluster.url()
    }

    pub(crate) async fn connect(&self) -> Store {
        Store::connect(self.url()).await.expect("it answers")
    }

    pub(crate) async fn stop(self) {
        self.cluster.stop().await;
    }
}
