//! Boxes for real: what a program gets, and how each limit ends it.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_exec::job::{JobFile, JobProgram, Purpose};
use assay_exec::limits::BoxLimits;
use assay_exec::outcome::{Captured, LimitKind, ProgramEnding};
use assay_exec::{BoxJob, Helper, HelperError, HelperOptions, JobEnd};

const PYTHON: &str = "/usr/bin/python3";

/// How many times slower than usual this machine is, such as one that is emulated.
fn slowness() -> u32 {
    std::env::var("ASSAY_TEST_SLOWNESS").map_or(1, |times| times.parse().expect("a number"))
}

fn slowed(limits: BoxLimits) -> BoxLimits {
    let (cpu_ms, wall_ms) = (limits.cpu_ms * slowness(), limits.wall_ms * slowness());
    BoxLimits { cpu_ms, wall_ms, ..limits }
}

struct Bench {
    helper: Helper,
    folder: tempfile::TempDir,
}

fn options(folder: &Path) -> HelperOptions {
    let made = |name: &str| {
        let path = folder.join(name);
        std::fs::create_dir(&path).expect("a folder");
        path
    };
    HelperOptions {
        program: env!("CARGO_BIN_EXE_assay-exec").into(),
        scratch: made("scratch"),
        paths: Vec::new(),
        shown: Vec::new(),
        toolchains: made("toolchains"),
        weaker: Vec::new(),
    }
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().expect("a folder");
    let helper = Helper::start(&options(folder.path())).expect("this machine boxes programs");
    Bench { helper, folder }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60) * slowness()
}

fn python<'a>(code: &'a str, limits: BoxLimits) -> BoxJob<'a> {
    BoxJob {
        purpose: Purpose::Run,
        program: JobProgram::Path(PYTHON),
        args: vec!["python3".into(), "-I".into(), "-c".into(), code.into()],
        env: vec![("LANG".into(), "C.UTF-8".into())],
        files: Vec::new(),
        stdin: b"",
        collect: Vec::new(),
        limits: slowed(limits),
    }
}

impl Bench {
    fn run(&mut self, job: &BoxJob<'_>) -> JobEnd {
        self.helper.run(job, soon()).expect("a box")
    }

    fn python(&mut self, code: &str) -> JobEnd {
        self.python_within(code, BoxLimits::RUN)
    }

    fn python_within(&mut self, code: &str, limits: BoxLimits) -> JobEnd {
        self.run(&python(code, limits))
    }
}

fn text(ended: &JobEnd) -> String {
    String::from_utf8_lossy(&ended.stdout.data).into_owned()
}

/// Its own groups are the roots of what it sees of them. With the zygote's as roots no box could be started where cgroups
/// are mounted with `nsdelegate`, as systemd mounts them.
#[test]
fn a_box_is_the_root_of_its_groups() {
    let ended = bench().python("print(open('/proc/self/cgroup').read())");
    let groups = text(&ended);
    assert!(groups.contains("0::/\n"), "{groups}");
    assert!(groups.trim().lines().all(|line| line.ends_with(":/")), "{groups}");
}

#[test]
fn a_program_reads_computes_and_writes() {
    let mut bench = bench();
    let mut job = python("import sys; print(sum(map(int, sys.stdin)))", BoxLimits::RUN);
    job.stdin = b"1\n2\n39\n";
    let ended = bench.run(&job);
    assert_eq!(ended.ending, ProgramEnding::Exited(0), "{ended:?}");
    assert_eq!(text(&ended), "42\n");
    assert!(ended.usage.cpu_us > 1_000 && ended.usage.memory_peak_bytes > 1 << 20, "{ended:?}");
}

#[test]
fn the_standard_input_is_read_and_nothing_else() {
    let mut bench = bench();
    let code = "
import mmap, os
def again(): return os.open('/proc/self/fd/0', os.O_RDWR)
def memory(file): return mmap.mmap(file, 5, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
for attempt in [
    lambda: os.pwrite(0, b'x', 0),
    lambda: os.pwrite(again(), b'x', 0),
    lambda: os.truncate(again(), 0),
    lambda: os.truncate(again(), 1 << 30),
    lambda: os.posix_fallocate(again(), 0, 1 << 20),
    lambda: memory(0),
    lambda: memory(again()),
]:
    try: print(attempt())
    except OSError: pass
os.lseek(0, 2, os.SEEK_SET)
print(os.read(0, 9), mmap.mmap(0, 0, mmap.MAP_PRIVATE, mmap.PROT_READ)[:])
";
    let mut job = python(code, BoxLimits::RUN);
    job.stdin = b"input";
    let ended = bench.run(&job);
    assert_eq!(ended.ending, ProgramEnding::Exited(0), "{ended:?}");
    assert_eq!(text(&ended), "b'put' b'input'\n");
}

/// What one box could set, later boxes of other tenants could read.
#[test]
fn devices_work_and_stay_as_they_are() {
    let ended = bench().python(
        "
import os
for name in ['null', 'zero', 'full', 'random', 'urandom']:
    path = '/dev/' + name
    for attempt in [
        lambda: os.utime(path),
        lambda: os.utime(path, (1, 1)),
        lambda: os.chmod(path, 0o600),
        lambda: os.chown(path, os.getuid(), os.getgid()),
        lambda: os.setxattr(path, 'user.mark', b'x'),
    ]:
        try: print(path, attempt())
        except OSError: pass
print(os.write(os.open('/dev/null', os.O_WRONLY), b'abc'), len(os.urandom(3)))
print(os.read(os.open('/dev/zero', os.O_RDWR), 3))
try: os.write(os.open('/dev/full', os.O_RDWR), b'x')
except OSError as full: print(full.strerror)
",
    );
    assert_eq!(ended.ending, ProgramEnding::Exited(0), "{ended:?}");
    assert_eq!(text(&ended), "3 3\nb'\\x00\\x00\\x00'\nNo space left on device\n");
}

#[test]
fn ends_are_told_as_they_were() {
    let mut bench = bench();
    assert_eq!(bench.python("raise SystemExit(7)").ending, ProgramEnding::Exited(7));
    let aborted = bench.python("import os; os.abort()");
    assert_eq!(aborted.ending, ProgramEnding::Signaled(6));
    let nonsense = assay_exec::sealed(b"no program").expect("a file");
    let mut not_executed = python("", BoxLimits::RUN);
    not_executed.program = JobProgram::Sealed(nonsense.as_fd());
    let ended = bench.run(&not_executed);
    assert_eq!(ended.ending, ProgramEnding::Exited(127));
    assert!(String::from_utf8_lossy(&ended.stderr.data).contains("Exec format"), "{ended:?}");
}

#[test]
fn a_tool_that_is_missing_is_not_the_end_of_a_program() {
    let mut bench = bench();
    let mut missing = python("", BoxLimits::RUN);
    missing.program = JobProgram::Path("/usr/bin/no-such-program");
    let lost = bench.helper.run(&missing, soon());
    let said = "/usr/bin/no-such-program: No such file";
    assert!(
        matches!(&lost, Err(HelperError::NoProgram(problem)) if problem.starts_with(said)),
        "{lost:?}"
    );
    let talk = bench.helper.talk(&python("", BoxLimits::RUN), &missing, soon());
    assert!(matches!(talk, Err(HelperError::NoProgram(_))), "{talk:?}");
    assert_eq!(bench.python("print(1)").ending, ProgramEnding::Exited(0), "it serves on");
}

#[test]
fn each_limit_ends_what_exceeds_it() {
    let mut bench = bench();
    let limits =
        BoxLimits { cpu_ms: 300, wall_ms: 3_000, memory_bytes: 64 << 20, ..BoxLimits::RUN };
    let mut limited = |code: &str, limits: BoxLimits| match bench.python_within(code, limits) {
        JobEnd { ending: ProgramEnding::Limited(limit), usage, .. } => (limit, usage),
        other => panic!("{code}: {other:?}"),
    };
    let (limit, usage) = limited("while True: pass", limits);
    assert_eq!(limit, LimitKind::Cpu);
    let limit_us = u64::from(slowness()) * 300_000;
    assert!((limit_us..5 * limit_us).contains(&usage.cpu_us), "{usage:?}");
    let four = "import os\nfor _ in range(3): os.fork()\nwhile True: pass";
    assert_eq!(limited(four, limits).0, LimitKind::Cpu);
    let sleep = "import time; time.sleep(600)";
    assert_eq!(limited(sleep, BoxLimits { wall_ms: 300, ..limits }).0, LimitKind::Wall);
    assert_eq!(limited("x = bytearray(1 << 30)", limits).0, LimitKind::Memory);
    let fill = "open('/tmp/x', 'wb').write(bytes(30 << 20)); x = bytearray(50 << 20)";
    assert_eq!(limited(fill, limits).0, LimitKind::Memory);
    let flood = "import os\nwhile True: os.write(1, b'x' * 65536)";
    assert_eq!(limited(flood, limits).0, LimitKind::Output);
    let bomb = "import os\nwhile True:\n  os.fork()";
    assert_eq!(limited(bomb, BoxLimits { cpu_ms: 3_000, ..limits }).0, LimitKind::Processes);
}

/// The group around all boxes of a helper whose folder this is, in the hierarchy that has one of these limits.
fn group_around_boxes(folder: &Path, limits: &[&str]) -> PathBuf {
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    let folder = folder.to_str().expect("a path in UTF-8");
    let is_of_helper = |process: &Path| {
        let words = std::fs::read(process.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(folder)
    };
    let processes = entries(Path::new("/proc")).filter(|entry| is_of_helper(&entry.path()));
    let names: Vec<_> =
        processes.map(|entry| format!("assay-exec-{}", entry.file_name().display())).collect();
    let (mut found, mut left) = (Vec::new(), vec![PathBuf::from("/sys/fs/cgroup")]);
    while let Some(group) = left.pop() {
        let is_limited = limits.iter().any(|file| group.join(file).exists());
        match group.file_name().and_then(|name| name.to_str()) {
            Some(name) if names.iter().any(|known| known == name) => {
                found.extend(is_limited.then_some(group));
            }
            _ => left.extend(
                entries(&group)
                    .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                    .map(|entry| entry.path()),
            ),
        }
    }
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn a_machine_that_is_out_of_memory_is_no_limit_of_the_program() {
    let mut bench = bench();
    let limits = ["memory.max", "memory.limit_in_bytes"];
    let group = group_around_boxes(bench.folder.path(), &limits);
    for file in ["memory.swap.max", "memory.max", "memory.limit_in_bytes"] {
        let file = group.join(file);
        let limit = if file.ends_with("memory.swap.max") { "0" } else { "67108864" };
        if file.exists() {
            std::fs::write(&file, limit).expect("a limit around all boxes");
        }
    }
    let takes = "x = bytearray(150 << 20)";
    let lost = bench.helper.run(&python(takes, BoxLimits::RUN), soon());
    assert!(
        matches!(&lost, Err(HelperError::Failed(problem)) if problem.contains("out of memory")),
        "{lost:?}"
    );
    // A program that reaches its own limit in the same place is still limited.
    let little = BoxLimits { memory_bytes: 32 << 20, ..BoxLimits::RUN };
    let ended = bench.python_within(takes, little);
    assert_eq!(ended.ending, ProgramEnding::Limited(LimitKind::Memory));
}

#[test]
fn a_machine_that_is_out_of_processes_is_no_limit_of_the_program() {
    let mut bench = bench();
    let group = group_around_boxes(bench.folder.path(), &["pids.max"]);
    std::fs::write(group.join("pids.max"), "12").expect("a limit around all boxes");
    let forks = "import os\nwhile True:\n  os.fork()";
    // One that copes has none of its processes either.
    let copes = "import os\ntry:\n  while True:\n    os.fork()\nexcept OSError: os._exit(0)";
    let many = BoxLimits { processes: 100, ..BoxLimits::RUN };
    for code in [forks, copes] {
        let lost = bench.helper.run(&python(code, many), soon());
        assert!(
            matches!(&lost, Err(HelperError::Failed(problem)) if problem.contains("out of processes")),
            "{lost:?}"
        );
    }
    // A program that reaches its own limit in the same place is still limited.
    let few = BoxLimits { processes: 2, ..BoxLimits::RUN };
    let ended = bench.python_within(forks, few);
    assert_eq!(ended.ending, ProgramEnding::Limited(LimitKind::Processes));
}

#[test]
fn what_is_kept_of_the_output_is_its_beginning() {
    let mut bench = bench();
    let limits = BoxLimits { stderr_bytes: 10, ..BoxLimits::RUN };
    let ended = bench.python_within("import sys; sys.stderr.write('0123456789abc')", limits);
    assert_eq!(ended.ending, ProgramEnding::Exited(0));
    assert_eq!((ended.stderr.data.as_slice(), ended.stderr.truncated), (&b"0123456789"[..], true));
}

#[test]
fn files_go_in_and_come_out() {
    let mut bench = bench();
    let code = "
import os
text = open('in/a.txt').read()
open('out.txt', 'w').write(text * 2)
os.symlink('/etc/passwd', 'link')
os.mkdir('folder')
";
    let mut job = python(code, BoxLimits::RUN);
    job.files = vec![JobFile { path: "in/a.txt", bytes: b"ab", executable: false }];
    let wanted = ["out.txt", "link", "missing", "folder", "../../etc/passwd", "in/a.txt"];
    job.collect = wanted.map(str::to_owned).to_vec();
    let ended = bench.run(&job);
    assert_eq!(ended.ending, ProgramEnding::Exited(0), "{ended:?}");
    let files: Vec<_> =
        ended.files.iter().map(|(path, kept)| (path.as_str(), kept.data.as_slice())).collect();
    assert_eq!(files, [("out.txt", &b"abab"[..]), ("in/a.txt", &b"ab"[..])]);
}

#[test]
fn links_to_a_file_do_not_multiply_what_comes_out() {
    let mut bench = bench();
    let code = "
import os
with open('0', 'wb') as file: file.truncate(6 << 20)
for n in range(1, 64): os.link('0', str(n))
";
    let mut job = python(code, BoxLimits { disk_bytes: 16 << 20, ..BoxLimits::RUN });
    job.collect = (0..64).map(|n: u32| n.to_string()).collect();
    let ended = bench.run(&job);
    assert_eq!(ended.ending, ProgramEnding::Exited(0), "{:?}", ended.stderr);
    let kept = |(_, kept): &(String, Captured)| (kept.data.len() >> 20, kept.truncated);
    let files: Vec<_> = ended.files.iter().map(kept).collect();
    assert_eq!(files[..4], [(6, false), (6, false), (4, true), (0, true)]);
    assert_eq!(files[4..], [(0, true); 60]);
}

#[test]
fn two_programs_talk_and_their_ends_are_seen() {
    let mut bench = bench();
    let guess = "
low, high = 1, 1000
while True:
    middle = (low + high) // 2
    print(middle, flush=True)
    answer = input()
    if answer == 'right': break
    if answer == 'more': low = middle + 1
    else: high = middle - 1
";
    let judge = "
import sys
for turn in range(20):
    line = sys.stdin.readline()
    if not line: sys.exit(43)
    n = int(line)
    print('right' if n == 777 else 'more' if n < 777 else 'less', flush=True)
    if n == 777: sys.exit(42)
sys.exit(43)
";
    let talk =
        bench.helper.talk(&python(guess, BoxLimits::RUN), &python(judge, BoxLimits::RUN), soon());
    let talk = talk.expect("boxes");
    assert_eq!(talk.program.ending, ProgramEnding::Exited(0), "{talk:?}");
    assert_eq!(talk.interactor.ending, ProgramEnding::Exited(42), "{talk:?}");
    let quits = python("pass", BoxLimits::RUN);
    let talk = bench.helper.talk(&quits, &python(judge, BoxLimits::RUN), soon()).expect("boxes");
    assert_eq!(
        talk.interactor.ending,
        ProgramEnding::Exited(43),
        "the judge sees the end: {talk:?}"
    );
    assert_eq!(talk.first_to_end, assay_exec::job::Party::Program);
}

#[test]
fn the_callers_deadline_ends_a_run_without_a_verdict() {
    let mut bench = bench();
    let started = Instant::now();
    let sleep = python("import time; time.sleep(600)", BoxLimits::RUN);
    let lost = bench.helper.run(&sleep, started + Duration::from_millis(200));
    assert!(matches!(lost, Err(HelperError::Deadline)), "{lost:?}");
    // It would have slept for 600 s; the number itself is no test's.
    assert!(started.elapsed() < Duration::from_secs(60) * slowness());
    assert_eq!(bench.python("print(1)").ending, ProgramEnding::Exited(0), "it serves on");
}
