//! The database as its owner sees it, through PostgreSQL's own client.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assay_postgres::Cluster;

use crate::process::postmaster_line;

pub struct Psql {
    program: PathBuf,
    url: String,
}

impl Psql {
    /// Runs statements in the private PostgreSQL of a data folder.
    ///
    /// # Panics
    /// If it does not run.
    #[must_use]
    pub fn of_data(data: &Path) -> Self {
        let line = |at| postmaster_line(data, at).expect("PostgreSQL runs");
        let (pid, socket) = (line(0), line(4));
        let server = std::fs::read_link(format!("/proc/{pid}/exe")).expect("the server's program");
        Self {
            program: server.with_file_name("psql"),
            url: format!("postgres://assay@localhost:5432/assay?host={socket}&sslmode=disable"),
        }
    }

    /// Runs statements in a database of the PostgreSQL that the tests share, by the `psql` beside the
    /// programs that servers use.
    pub(crate) fn shared(url: String) -> Self {
        let programs = std::env::var_os("ASSAY_POSTGRES_BIN").map(PathBuf::from);
        Self { program: programs.unwrap_or_default().join("psql"), url }
    }

    #[must_use]
    pub fn of_cluster(cluster: &Cluster) -> Self {
        Self { program: cluster.programs().join("psql"), url: cluster.url().to_owned() }
    }

    /// The rows, their columns parted by `|`.
    ///
    /// # Panics
    /// When PostgreSQL refuses the statement.
    #[must_use]
    pub fn rows(&self, sql: &str) -> Vec<String> {
        let output = self.run(sql);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {errors}");
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }

    /// The error of a statement that PostgreSQL must refuse.
    ///
    /// # Panics
    /// If PostgreSQL accepts the statement.
    #[must_use]
    pub fn refusal(&self, sql: &str) -> String {
        let output = self.run(sql);
        assert!(!output.status.success(), "{sql}: was not refused");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn run(&self, sql: &str) -> Output {
        let mut command = Command::new(&self.program);
        command.args(["--no-psqlrc", "--tuples-only", "--no-align", "--command", sql]);
        command.arg(&self.url).output().expect("psql runs")
    }
}
