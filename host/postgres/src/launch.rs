//! Brings the cluster's server up: adopts one that still runs, or starts one.
//!
//! Called by whoever holds the data folder's lock, and by nobody else.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
};

use crate::{
    error::{Error, FileContext},
    folder::{Layout, remove_if_there},
    initialize, log,
    owner::Owner,
    postmaster::Postmaster,
    process::{PidFile, end_orphans, is_postmaster},
    programs::{SearchPlaces, ServerPrograms, version_of_cluster},
    settings,
};

/// The time between two looks at a starting server.
const POLL: Duration = Duration::from_millis(10);
/// The pause between two lines of the log about a server that still starts: replaying the whole of `max_wal_size` after
/// a crash takes minutes on a slow disk.
const PROGRESS: Duration = Duration::from_secs(10);
const PING: Duration = Duration::from_secs(5);

/// Everything needed to start the server, again and again.
#[derive(Debug, Clone)]
pub(crate) struct ServerSetup {
    pub(crate) layout: Layout,
    pub(crate) programs: ServerPrograms,
    pub(crate) owner: Owner,
    pub(crate) socket: PathBuf,
}

impl ServerSetup {
    /// Finds programs and user, makes the folders and, where there is none yet, the cluster.
    pub(crate) async fn prepare(layout: Layout, places: &SearchPlaces) -> Result<Self, Error> {
        let wanted = version_of_cluster(&layout.cluster)?;
        let owner = Owner::of(&layout.cluster)?;
        let programs = places.find_for(&layout.cluster, wanted)?;
        layout.make_home(&owner)?;
        owner.check_reach(&programs.path("postgres"), &layout.home).await?;
        if wanted.is_none() {
            initialize::initialize(&layout, &programs, &owner).await?;
        }
        let socket = layout.make_socket_folder(&owner)?;
        Ok(Self { layout, programs, owner, socket })
    }

    /// The running server, adopted or started, and ready.
    pub(crate) async fn launch(&self) -> Result<Postmaster, Error> {
        let changed = self.write_settings().await?;
        if let Some(running) = self.running() {
            let fits = !changed && running.socket == self.socket;
            let mut postmaster = Postmaster::adopted(running.pid, self.layout.clone());
            // One that is shutting down ends while it is waited for; another is started then.
            if fits && self.ready(&mut postmaster, 0).await.is_ok() {
                tracing::info!(postgres.pid = postmaster.pid(), "adopted a running PostgreSQL");
                return Ok(postmaster);
            }
            postmaster.stop().await;
        }
        end_orphans(&self.layout).await;
        self.remove_stale_files()?;
        if let Err(error) = log::put_aside(&self.layout.log) {
            // A full disk has no room for the old one; the server may start all the same.
            tracing::warn!("PostgreSQL's log stays as large as it is: {error}");
        }
        let log = log::open(&self.layout.log)?;
        let log_before = log.metadata().doing("look at", &self.layout.log)?.len();
        let mut command = self.owner.command(&self.programs.path("postgres"), &self.layout.home);
        command.arg("-D").arg(&self.layout.cluster).envs(settings::ENVIRONMENT);
        command.stdout(Stdio::from(log.try_clone().doing("open", &self.layout.log)?));
        command.stderr(Stdio::from(log));
        // A Ctrl-C at the terminal is for Assay, which stops the server when it is done with it.
        command.process_group(0);
        let child = command.spawn().doing("run", self.programs.path("postgres"))?;
        let mut postmaster = Postmaster::spawned(child, self.layout.clone());
        self.ready(&mut postmaster, log_before).await?;
        Ok(postmaster)
    }

    /// Takes away what lies outside the data folder, once the server is down.
    pub(crate) fn leave(&self) {
        if !self.socket.starts_with(&self.layout.home) {
            // A folder that is left is empty and used again at the next start.
            let _ = fs::remove_dir(&self.socket);
        }
    }

    /// Writes the settings; true when they were others.
    async fn write_settings(&self) -> Result<bool, Error> {
        let compression = self.wal_compression().await?;
        let text = settings::text(&self.socket, &self.layout.name, compression);
        let path = self.layout.cluster.join(settings::FILE);
        if fs::read_to_string(&path).is_ok_and(|before| before == text) {
            return Ok(false);
        }
        // The owner may have put a link there, which must not lead the caller to a file of others.
        let new = path.with_extension("new");
        remove_if_there(&new)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(&new).doing("make", &new)?;
        file.write_all(text.as_bytes()).doing("write", &new)?;
        self.owner.give(&new)?;
        fs::rename(&new, &path).doing("write", &path)?;
        Ok(true)
    }

    /// The best kind that these programs were built with.
    async fn wal_compression(&self) -> Result<&'static str, Error> {
        let program = self.programs.path("postgres");
        let mut asking = self.owner.command(&program, &self.layout.home);
        asking.args(["-C", "wal_compression", "-c", "wal_compression=lz4", "-D"]);
        let asked = asking.arg(&self.layout.cluster).output().await.doing("run", program)?;
        Ok(if asked.status.success() { "lz4" } else { "off" })
    }

    fn running(&self) -> Option<PidFile> {
        PidFile::read(&self.layout).filter(|file| is_postmaster(file.pid, &self.layout))
    }

    /// A crashed server's pid files stop a new one when their process id has meanwhile gone to some
    /// other process of the same user. No server runs here now, and the lock keeps others out.
    fn remove_stale_files(&self) -> Result<(), Error> {
        let socket = format!(".s.PGSQL.{}", settings::PORT);
        for path in [
            self.layout.cluster.join("postmaster.pid"),
            self.socket.join(format!("{socket}.lock")),
            self.socket.join(socket),
        ] {
            remove_if_there(&path)?;
        }
        Ok(())
    }

    async fn ready(&self, postmaster: &mut Postmaster, log_before: u64) -> Result<(), Error> {
        let began = Instant::now();
        let mut told = began;
        loop {
            let file = PidFile::read(&self.layout);
            let says_so =
                file.is_some_and(|file| file.ready && file.pid.unsigned_abs() == postmaster.pid());
            if says_so && self.answers().await {
                return Ok(());
            }
            if tokio::time::timeout(POLL, postmaster.ended()).await.is_ok() {
                return Err(Error::Start { log: log::quote(&self.layout.log, log_before) });
            }
            if told.elapsed() > PROGRESS {
                told = Instant::now();
                let (seconds, log) =
                    (began.elapsed().as_secs(), log::quote(&self.layout.log, log_before));
                let last = log.lines().rev().nth(1).unwrap_or_default();
                tracing::info!(
                    seconds,
                    "PostgreSQL still starts, as after a crash; waiting: {last}"
                );
            }
        }
    }

    /// Whether a backend answers on the socket: asked for TLS, which a Unix socket never has, it
    /// says `N` without a session.
    async fn answers(&self) -> bool {
        const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
        let asked = async {
            let path = self.socket.join(format!(".s.PGSQL.{}", settings::PORT));
            let mut stream = UnixStream::connect(path).await?;
            stream.write_all(&TLS_REQUEST).await?;
            stream.read_u8().await
        };
        matches!(tokio::time::timeout(PING, asked).await, Ok(Ok(b'N')))
    }
}
