//! A database for one server, in a PostgreSQL that the servers of a test run share (`scripts/testing.sh`
//! starts it): to make it takes a tenth of the time of a PostgreSQL for each of them.

use crate::Psql;

/// The address of that PostgreSQL.
const SHARED: &str = "ASSAY_TEST_DATABASE_URL";

/// Deleted when dropped.
pub(crate) struct Database {
    shared: String,
    name: String,
    url: String,
}

impl Database {
    /// Creates a database; `None` if the tests share no PostgreSQL.
    pub(crate) fn create() -> Option<Self> {
        let shared = std::env::var(SHARED).ok()?;
        let mut number = [0; 8];
        getrandom::fill(&mut number).expect("the system has random numbers");
        let name = format!("test_{:016x}", u64::from_ne_bytes(number));
        let (server, parameters) = shared.split_once('?').expect("an address with its socket");
        let (server, _) = server.rsplit_once('/').expect("an address with a database");
        let url = format!("{server}/{name}?{parameters}");
        let _ = Psql::shared(shared.clone()).rows(&format!("create database {name}"));
        Some(Self { shared, name, url })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn psql(&self) -> Psql {
        Psql::shared(self.url.clone())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Looked at by whoever wants to know why; gone with the test run.
            return;
        }
        // A killed server's connections may still be there.
        let drop = format!("drop database {} with (force)", self.name);
        let _ = Psql::shared(self.shared.clone()).rows(&drop);
    }
}
