//! The server's settings: many small durable commits on a machine of few cores.
//!
//! They stand in a file of our own, rewritten at every start and included at the end of the
//! postgresql.conf that initdb made; what an operator wants otherwise goes into `ALTER SYSTEM`, which
//! wins. Nothing here may weaken a commit.

use std::path::Path;

/// The port's number is part of the socket's name and nothing else.
pub(crate) const PORT: u16 = 5432;
/// The one role and database.
pub(crate) const NAME: &str = "assay";

/// The file's name in the cluster's folder.
pub(crate) const FILE: &str = "assay.conf";

/// Up to 16 MiB of what a statement took stay with its process, in glibc's allocator. Each commit of requests needs some
/// buffers of megabytes, and a fifth of its time went to getting them from the system anew.
pub(crate) const ENVIRONMENT: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "16777216"), ("MALLOC_TRIM_THRESHOLD_", "16777216")];

/// The text of the file.
///
/// `socket` must consist of plain characters, see `folder::fits_a_socket`.
pub(crate) fn text(socket: &Path, cluster_name: &str, wal_compression: &str) -> String {
    let socket = socket.display();
    format!(
        "\
# Written by Assay at every start: changes here are lost. Use ALTER SYSTEM for settings of your own.
listen_addresses = ''
port = {PORT}
unix_socket_directories = '{socket}'
cluster_name = '{cluster_name}'
max_connections = 50

fsync = on
synchronous_commit = on
full_page_writes = on

shared_buffers = 256MB
max_wal_size = 4GB
checkpoint_timeout = 15min
wal_compression = {wal_compression}
jit = off
autovacuum = on

timezone = 'UTC'

logging_collector = off
log_timezone = 'UTC'
log_line_prefix = '%m [%p] '
"
    )
}

/// How clients find the server; sqlx and libpq read it alike. Port and TLS are said so that
/// `PGPORT` and `PGSSLMODE` of the caller's environment do not count.
pub(crate) fn url(socket: &Path) -> String {
    format!("postgres://{NAME}@localhost:{PORT}/{NAME}?host={}&sslmode=disable", socket.display())
}
