//! A real Slurm on this machine: a controller and nodes of its own for each test, in a temporary folder.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::process::{Process, poll, signal};
use crate::{is_root, program};

const SOON: Duration = Duration::from_secs(60);
const PROGRAMS: [&str; 5] = ["munged", "slurmctld", "slurmd", "sbatch", "setpriv"];

/// A node of the cluster.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub cpus: u32,
    pub gpus: usize,
}

/// A cluster; ended with the test, with all of its jobs.
pub struct Slurm {
    /// The nodes are called `n1`, `n2` and so on.
    nodes: Vec<Child>,
    controller: Option<Child>,
    _munge: Child,
    folder: TempDir,
}

impl Slurm {
    /// `None`, with the reason printed, where there is no Slurm or it cannot be run.
    ///
    /// # Panics
    /// When it does not come up.
    #[must_use]
    pub fn start(nodes: &[Node]) -> Option<Self> {
        let missing = PROGRAMS.iter().find(|name| find(name).is_none());
        if let Some(missing) = missing {
            println!("SKIPPED: no Slurm ({missing} is missing; scripts/setup.sh test installs it)");
            return None;
        }
        if !is_root() {
            println!("SKIPPED: a Slurm of the tests' own needs root");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("assay-slurm-").tempdir().expect("a folder");
        write_settings(folder.path(), nodes);
        let munge = run_munge(folder.path());
        let mut slurm = Self { nodes: Vec::new(), controller: None, _munge: munge, folder };
        slurm.start_controller();
        for node in 1..=nodes.len() {
            let name = format!("n{node}");
            slurm.nodes.push(slurm.daemon("slurmd", &["-D", "-N", &name], &name));
        }
        poll(SOON, "the nodes are idle", || {
            let states = slurm.ask("sinfo", &["-h", "-N", "-p", "all", "-o", "%T"]);
            (states.lines().filter(|state| *state == "idle").count() == nodes.len()).then_some(())
        });
        Some(slurm)
    }

    /// Starts the controller, for the first time or after [`Slurm::stop_controller`]; it keeps its jobs.
    ///
    /// # Panics
    /// When it does not answer.
    pub fn start_controller(&mut self) {
        self.controller = Some(self.daemon("slurmctld", &["-D"], "controller"));
        poll(SOON, "the controller answers", || {
            self.run("squeue", &["-h"]).status.success().then_some(())
        });
    }

    /// Stops the controller, which saves its jobs first.
    ///
    /// # Panics
    /// When it does not run.
    pub fn stop_controller(&mut self) {
        let mut controller = self.controller.take().expect("it runs");
        signal(controller.id(), "TERM");
        controller.wait().expect("it is our child");
    }

    /// Kills the node with everything that runs there, as a loss of power does; they are numbered from 1.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn lose(&mut self, node: usize) {
        let name = format!("n{node}");
        end(&mut self.nodes[node - 1]);
        let jobs = self.ask("squeue", &["-h", "-w", &name, "-o", "%i"]);
        for job in jobs.lines() {
            // A job's processes are below its slurmstepd, which names it in its title.
            for step in steps_of(self.folder.path(), job) {
                let below = Process::descendants(step.pid).into_iter().map(|process| process.pid);
                for pid in std::iter::once(step.pid).chain(below.collect::<Vec<_>>()) {
                    // Some end with their parents.
                    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).output();
                }
            }
        }
    }

    /// Submits a job that takes a whole node, from other jobs if none is free; returns its id.
    ///
    /// # Panics
    /// When Slurm refuses it.
    #[must_use]
    pub fn preempt(&self) -> String {
        let options = ["--parsable", "--partition=urgent", "--exclusive", "--output=/dev/null"];
        let said = self.ask("sbatch", &[&options[..], &["--wrap=sleep 600"]].concat());
        let job = said.trim().to_owned();
        assert!(!job.is_empty(), "sbatch takes it");
        job
    }

    /// Ends a job.
    pub fn cancel(&self, job: &str) {
        self.ask("scancel", &[job]);
    }

    /// The variables of the environment of everything that uses it.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let settings = self.folder.path().join("slurm.conf");
        vec![("SLURM_CONF".into(), settings.to_str().expect("a plain path").into())]
    }

    /// Writes the file of `--slurm` with these pools and returns its path; jobs run the worker program of the tests.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn file(&self, pools: &str, program: &str) -> String {
        let file = self.folder.path().join("assay.toml");
        let logs = self.folder.path().join("jobs");
        let text = format!("program = {program:?}\nlogs = {logs:?}\n{pools}");
        std::fs::write(&file, text).expect("writes");
        file.to_str().expect("a plain path").into()
    }

    /// A worker program whose child is `serve`, such as that of [`crate::Sleepers`].
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn program_serving(&self, serve: &str) -> String {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.folder.path().join("assay-worker");
        let real = program("assay-worker");
        let script = format!(
            "#!/bin/sh\nshift\nexec '{}' join --serve-program '{serve}' \"$@\"\n",
            real.display()
        );
        std::fs::write(&path, script).expect("writes");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("sets");
        path.to_str().expect("a plain path").into()
    }

    /// The jobs that exist, as `id state name`, the earliest first.
    #[must_use]
    pub fn jobs(&self) -> Vec<String> {
        let jobs = self.ask("squeue", &["-h", "-S", "i", "-o", "%i %T %j"]);
        jobs.lines().filter(|job| !job.contains("COMPLETING")).map(str::to_owned).collect()
    }

    /// The last state of a job.
    #[must_use]
    pub fn state(&self, job: &str) -> String {
        self.ask("squeue", &["-h", "-t", "all", "-j", job, "-o", "%T"]).trim().to_owned()
    }

    fn ask(&self, program: &str, options: &[&str]) -> String {
        let said = self.run(program, options);
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    fn run(&self, program: &str, options: &[&str]) -> Output {
        let mut command = Command::new(find(program).expect("it is installed"));
        command.args(options).envs(self.environment()).stdin(Stdio::null());
        command.output().expect("it runs")
    }

    fn daemon(&self, program: &str, options: &[&str], log: &str) -> Child {
        let mut command = dying_with_the_test(program);
        command.args(options).envs(self.environment());
        let log = self.folder.path().join("log").join(format!("{log}.out"));
        let log = std::fs::File::options().create(true).append(true).open(log).expect("a log");
        command.stdout(log.try_clone().expect("a second handle")).stderr(log);
        command.spawn().expect("it starts")
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.folder.path().join("log");
            for name in ["slurmctld.log", "controller.out", "slurmd-n1.log"] {
                let text = std::fs::read_to_string(log.join(name)).unwrap_or_default();
                let lines: Vec<&str> = text.lines().rev().take(40).collect();
                eprintln!("--- {name}, the last line first\n{}", lines.join("\n"));
            }
        }
        if self.controller.is_some() {
            let _ = self.run("scancel", &["--me"]);
            for _ in 0..100 {
                if self.jobs().is_empty() {
                    break;
                }
                std::thread::park_timeout(Duration::from_millis(50));
            }
        }
        self.nodes.iter_mut().chain(self.controller.as_mut()).for_each(end);
        end(&mut self._munge);
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// The processes that run a job of the cluster in this folder; other clusters have jobs of the same numbers.
fn steps_of(folder: &Path, job: &str) -> Vec<Process> {
    let title = format!("slurmstepd: [{job}.");
    let entries = std::fs::read_dir("/proc").expect("the kernel tells of processes");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let of_job = |pid: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.starts_with(&title) && has_open(*pid, folder)
    };
    pids.filter(of_job).filter_map(Process::find).collect()
}

/// Whether the process has a file of the folder open, such as its log.
fn has_open(pid: u32, folder: &Path) -> bool {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut paths = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    paths.any(|path| path.starts_with(folder))
}

/// Nothing of a test that was killed stays.
fn dying_with_the_test(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).arg(find(program).expect("it is installed"));
    command.stdin(Stdio::null());
    command
}

/// Daemons are in folders that an ordinary user's path lacks.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = path.split(':').chain(["/usr/sbin", "/sbin", "/usr/bin"]);
    folders.map(|folder| Path::new(folder).join(program)).find(|path| path.is_file())
}

fn run_munge(folder: &Path) -> Child {
    use std::os::unix::fs::PermissionsExt as _;
    let key = folder.join("munge.key");
    let mut secret = vec![0; 1_024];
    let mut random = std::fs::File::open("/dev/urandom").expect("randomness");
    std::io::Read::read_exact(&mut random, &mut secret).expect("randomness");
    std::fs::write(&key, secret).expect("writes");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o400)).expect("sets");
    let mut command = dying_with_the_test("munged");
    let file = |name: &str| folder.join(name).display().to_string();
    command.args(["--foreground", "--force"]);
    command.arg(format!("--socket={}", file("munge.sock")));
    command.arg(format!("--key-file={}", key.display()));
    command.arg(format!("--pid-file={}", file("munged.pid")));
    command.arg(format!("--log-file={}", file("munged.log")));
    command.arg(format!("--seed-file={}", file("munge.seed")));
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    poll(SOON, "munge's socket is there", || folder.join("munge.sock").exists().then_some(()));
    child
}

fn write_settings(folder: &Path, nodes: &[Node]) {
    use std::os::unix::fs::PermissionsExt as _;
    let open = |path: &Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("sets");
    };
    open(folder);
    for name in ["log", "state", "spool", "jobs"] {
        std::fs::create_dir(folder.join(name)).expect("a folder");
        open(&folder.join(name));
    }
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    let host = host.trim().split('.').next().unwrap_or_default().to_owned();
    // All at once, so that they differ; given back just before Slurm takes them.
    let ports: Vec<TcpListener> =
        (0..=nodes.len()).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let port = |at: usize| ports[at].local_addr().expect("bound").port();
    let at = folder.display();
    let mut settings = format!(
        "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n\
         AuthType=auth/munge\nAuthInfo=socket={at}/munge.sock\nCredType=cred/munge\n\
         SlurmctldPort={}\nSlurmctldPidFile={at}/slurmctld.pid\nSlurmdPidFile={at}/slurmd-%n.pid\n\
         SlurmdSpoolDir={at}/spool/%n\nStateSaveLocation={at}/state\n\
         SlurmctldLogFile={at}/log/slurmctld.log\nSlurmdLogFile={at}/log/slurmd-%n.log\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
         JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerType=sched/backfill\n\
         SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000,bf_interval=1\n\
         ReturnToService=2\nSlurmdParameters=config_overrides\nGresTypes=gpu\nKillWait=2\n\
         MessageTimeout=5\nMpiDefault=none\nSlurmdTimeout=300\n\
         PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n",
        port(0)
    );
    let mut gres = String::new();
    for (at, Node { cpus, gpus }) in nodes.iter().enumerate() {
        let (name, port) = (at + 1, port(at + 1));
        std::fs::create_dir(folder.join(format!("spool/n{name}"))).expect("a folder");
        let has = if *gpus > 0 { format!(" Gres=gpu:{gpus}") } else { String::new() };
        let _ = writeln!(
            settings,
            "NodeName=n{name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} \
             RealMemory=1000{has} State=UNKNOWN"
        );
        if *gpus > 0 {
            // GPUs that are only files.
            let files = ["/dev/null", "/dev/zero", "/dev/full"][..*gpus].join(",");
            let _ = writeln!(gres, "NodeName=n{name} Name=gpu File={files}");
        }
    }
    let nodes = nodes.len();
    let _ = writeln!(
        settings,
        "PartitionName=all Nodes=n[1-{nodes}] Default=YES MaxTime=01:00:00 State=UP PriorityTier=1\n\
         PartitionName=urgent Nodes=n[1-{nodes}] MaxTime=01:00:00 State=UP PriorityTier=9"
    );
    std::fs::write(folder.join("slurm.conf"), settings).expect("writes");
    std::fs::write(folder.join("gres.conf"), gres).expect("writes");
    let version = Command::new(find("slurmctld").expect("it is installed")).arg("-V").output();
    let version = String::from_utf8_lossy(&version.expect("it runs").stdout).into_owned();
    if !(version.contains(" 22.") || version.contains(" 23.0")) {
        // Newer ones start their plugin of cgroups whether or not it is used.
        std::fs::write(folder.join("cgroup.conf"), "CgroupPlugin=disabled\n").expect("writes");
    }
}
