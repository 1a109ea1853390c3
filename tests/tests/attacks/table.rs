//! Every attack with what it is given and how it must end.

/// One program of `tests/attacks`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attack {
    pub(crate) file: &'static str,
    /// The verdicts of the guest `execute` that are containment. `exited_0` is one only if the program
    /// also says that it was contained.
    pub(crate) ends: &'static [&'static str],
    /// Further ones where processes are not counted together.
    pub(crate) without_cgroups: &'static [&'static str],
    /// Instead of the toolchain's own, as JSON.
    pub(crate) limits: &'static str,
    /// Milliseconds of processor time of the compiler, instead of the toolchain's own.
    pub(crate) compile_cpu_ms: Option<u32>,
    /// `{name}` stands for what the machine has of that name.
    pub(crate) arguments: &'static [&'static str],
    pub(crate) options: &'static [&'static str],
    pub(crate) collect: &'static [&'static str],
    /// How often it is run, one run right after the other.
    pub(crate) runs: u32,
}

const fn attack(file: &'static str) -> Attack {
    Attack {
        file,
        ends: &["exited_0"],
        without_cgroups: &[],
        limits: "{}",
        compile_cpu_ms: None,
        arguments: &[],
        options: &[],
        collect: &[],
        runs: 1,
    }
}

impl Attack {
    const fn ends(self, ends: &'static [&'static str]) -> Self {
        Self { ends, ..self }
    }

    const fn without_cgroups(self, without_cgroups: &'static [&'static str]) -> Self {
        Self { without_cgroups, ..self }
    }

    const fn limits(self, limits: &'static str) -> Self {
        Self { limits, ..self }
    }

    /// For what keeps a compiler busy until its time is over.
    const fn compiled_briefly(self) -> Self {
        Self { compile_cpu_ms: Some(3_000), ..self }
    }

    const fn arguments(self, arguments: &'static [&'static str]) -> Self {
        Self { arguments, ..self }
    }

    const fn options(self, options: &'static [&'static str]) -> Self {
        Self { options, ..self }
    }

    const fn collect(self, collect: &'static [&'static str]) -> Self {
        Self { collect, ..self }
    }

    const fn runs(self, runs: u32) -> Self {
        Self { runs, ..self }
    }

    pub(crate) fn toolchain(&self) -> &'static str {
        match self.file.rsplit_once('.') {
            Some((_, "py")) => "cpython-3",
            Some((_, "cpp")) => "cpp17-gcc",
            _ => "c11-gcc",
        }
    }
}

/// A little processor time, so that what loops is soon over. The wall clock's limit follows from it.
const SHORT: &str = r#"{"cpu_ms":300,"wall_ms":1}"#;
/// As little as there can be of the wall clock, for what sleeps.
const ASLEEP: &str = r#"{"cpu_ms":50,"wall_ms":1}"#;
const LONG: &str = r#"{"cpu_ms":20000}"#;
/// The endings of a source that some compilers accept and others refuse; only the box must hold.
const COMPILED_OR_NOT: &[&str] = &["rejected", "exited_0", "exited_1", "exited_127", "bad_request"];

/// Attacks on everything outside the box: each attempt is refused.
const REFUSED: &[Attack] = &[
    attack("namespaces.c"),
    attack("mounts.c"),
    attack("kernel_interfaces.c"),
    attack("foreign_abi.c"),
    attack("init_process.c"),
    attack("kill_all.c").runs(3),
    attack("rights.c"),
    attack("setuid_programs.c"),
    attack("identity.c").arguments(&["{hostname}"]),
    attack("descriptors.c"),
    attack("secret_files.c").arguments(&["{secret}", "{data}", "{checkout}", "{helper}"]),
    attack("foreign_writes.c"),
    attack("walk.c").limits(LONG),
    attack("devices.c"),
    attack("proc_writes.c"),
    attack("network.c").arguments(&["{port}", "{abstract}", "{socket}"]),
    attack("socket_families.c"),
    attack("own_program.c").runs(3),
    attack("terminals.c"),
    attack("limits_raised.c"),
    attack("scheduling.c"),
    attack("left_behind.c").runs(3),
    attack("constructor.c"),
    attack("system_calls.py"),
    attack("environment.py"),
];

/// Attacks that take more resources than the limits allow: refused, or ended by the limit.
const RESOURCES: &[Attack] = &[
    attack("fork_bomb.c").limits(SHORT).ends(&["limited_cpu", "limited_processes"]),
    attack("vfork_bomb.c").limits(SHORT).ends(&[
        "limited_cpu",
        "limited_processes",
        "limited_memory",
    ]),
    attack("process_count.c").arguments(&["{processes}"]).ends(&["exited_0", "limited_processes"]),
    attack("thread_count.c").arguments(&["{processes}"]).ends(&["exited_0", "limited_processes"]),
    attack("children.py").limits(SHORT).ends(&[
        "limited_cpu",
        "limited_processes",
        "limited_memory",
    ]),
    attack("memory_bomb.c").ends(&["limited_memory"]).without_cgroups(&["limited_cpu"]),
    attack("memory_bomb.py").ends(&["limited_memory"]).without_cgroups(&["limited_cpu"]),
    attack("memory_of_many.c").ends(&["limited_memory"]).without_cgroups(&["exited_1"]),
    attack("stack_bomb.c").ends(&["limited_memory", "signaled_11"]),
    attack("memfd_fill.c").ends(&["exited_0", "limited_memory"]),
    attack("shared_memory.c").ends(&["exited_0", "limited_memory"]),
    attack("pipes_fill.c").ends(&["exited_0", "limited_memory"]),
    attack("descriptors_in_flight.c").ends(&["exited_0", "limited_memory"]),
    attack("disk_fill.c").ends(&["exited_0", "limited_memory"]),
    attack("inode_fill.c").limits(LONG).ends(&["exited_0", "limited_memory"]),
    attack("sparse_file.c")
        .collect(&["attack-sparse", "attack-far"])
        .ends(&["exited_0", "limited_memory"]),
    attack("hard_links.c").collect(LINKS),
    attack("deep_tree.c").limits(LONG),
    attack("output_flood.c").ends(&["limited_output"]),
    attack("error_flood.c"),
    attack("output_closed.c").limits(SHORT).ends(&["limited_cpu"]),
    attack("endless_loop.c").limits(SHORT).ends(&["limited_cpu"]),
    attack("endless_four.c").limits(SHORT).ends(&["limited_cpu"]),
    attack("signals_ignored.c").limits(SHORT).ends(&["limited_cpu"]),
    attack("exec_loop.c").limits(SHORT).ends(&["limited_cpu"]),
    attack("comet.c").limits(SHORT).ends(&["limited_cpu"]).without_cgroups(&["limited_wall"]),
    attack("large_number.py").limits(SHORT).ends(&["limited_cpu"]),
    attack("sleep.c").limits(ASLEEP).ends(&["limited_wall"]),
    attack("stopped.c").limits(ASLEEP).ends(&["limited_wall"]),
    attack("daemon.c").runs(3),
    attack("thread_left.py"),
    attack("timers.c"),
    attack("watches.c").limits(LONG),
    attack("queues.c").runs(2).ends(&["exited_0", "limited_memory"]),
    attack("huge_arguments.c"),
    attack("core_dump.c").ends(&["signaled_6"]),
    attack("collected.c").collect(COLLECTED),
    attack("collected_init.c").collect(&["mem", "maps", "environ", "auxv", "cmdline", "status"]),
    attack("huge_pages.c"),
    attack("waits_for_itself.c").limits(SHORT).ends(&["limited_wall", "limited_cpu"]),
    attack("yields.c").limits(SHORT).ends(&["limited_wall", "limited_cpu"]),
    attack("disk_over_memory.c")
        .limits(r#"{"memory_bytes":16777216,"disk_bytes":134217728}"#)
        .ends(&["limited_memory", "exited_0", "signaled_9"])
        .without_cgroups(&["exited_1"]),
    attack("collected_root.c").collect(&[
        "etc/passwd",
        "proc/1/environ",
        "etc/hostname",
        "attack-plain",
    ]),
    attack("compile_bomb.py").ends(&[
        "exited_3",
        "signaled_11",
        "limited_memory",
        "limited_cpu",
        "exited_1",
    ]),
    attack("recursion.py").ends(&["signaled_11", "limited_memory", "limited_cpu", "exited_1"]),
];

/// The names that `collected.c` leaves, and names that lead to other places.
const COLLECTED: &[&str] = &[
    "attack-soft",
    "attack-folder-link/passwd",
    "attack-environ",
    "attack-zero",
    "attack-hard",
    "attack-pipe",
    "attack-folder",
    "attack-loop",
    "attack-socket",
    "attack-locked",
    "attack-swapped",
    "attack-plain",
    "attack-missing",
];

/// The names that `hard_links.c` gives one file.
const LINKS: &[&str] = &[
    "link-00", "link-01", "link-02", "link-03", "link-04", "link-05", "link-06", "link-07",
    "link-08", "link-09", "link-10", "link-11", "link-12", "link-13", "link-14", "link-15",
    "link-16", "link-17", "link-18", "link-19", "link-20", "link-21", "link-22", "link-23",
    "link-24", "link-25", "link-26", "link-27", "link-28", "link-29", "link-30", "link-31",
    "link-32", "link-33", "link-34", "link-35", "link-36", "link-37", "link-38", "link-39",
    "link-40", "link-41", "link-42", "link-43", "link-44", "link-45", "link-46", "link-47",
    "link-48", "link-49", "link-50", "link-51", "link-52", "link-53", "link-54", "link-55",
    "link-56", "link-57", "link-58", "link-59", "link-60", "link-61", "link-62", "link-63",
];

/// Attacks on the machine during compilation, and by the options that a request may give.
const COMPILERS: &[Attack] = &[
    attack("compile_incbin.c").ends(&["rejected"]),
    attack("compile_include_secret.c").ends(&["rejected"]),
    attack("compile_include_environment.c").ends(&["rejected"]),
    attack("compile_include_zero.c").compiled_briefly().ends(&["rejected"]),
    attack("compile_include_random.c").compiled_briefly().ends(&["rejected"]),
    attack("compile_include_input.c").ends(&["rejected"]),
    attack("compile_include_itself.c").compiled_briefly().ends(&["rejected"]),
    attack("macro_bomb.c").compiled_briefly().ends(&["rejected"]),
    attack("template_bomb.cpp").compiled_briefly().ends(&["rejected"]),
    attack("constexpr_bomb.cpp").compiled_briefly().ends(&["rejected"]),
    attack("huge_binary.c").ends(&["rejected"]),
    attack("huge_log.c").ends(&["rejected", "exited_0"]),
    attack("harmless.c").options(&["-fplugin=/box/w/main.c"]).ends(&["rejected", "bad_request"]),
    attack("harmless.c").options(&["-include", "/etc/shadow"]).ends(&["rejected", "bad_request"]),
    attack("harmless.c").options(&["-imacros/etc/shadow"]).ends(&["rejected", "bad_request"]),
    attack("harmless.c").options(&["@/etc/shadow"]).ends(&["rejected", "bad_request"]),
    attack("harmless.c").options(&["-specs=/etc/shadow"]).ends(&["rejected", "bad_request"]),
    attack("harmless.c").options(&["-Wl,-T,/etc/shadow"]).ends(&["rejected", "bad_request"]),
    attack("harmless.c").options(&["-Wl,@/etc/shadow"]).ends(&["rejected", "bad_request"]),
    attack("harmless.c").options(&["-o", "/toolchains/attack-out"]).ends(COMPILED_OR_NOT),
    attack("harmless.c").options(&["-o", "/usr/bin/attack-out"]).ends(COMPILED_OR_NOT),
    attack("harmless.c").options(&["-MD", "-MF", "/toolchains/attack-out"]).ends(COMPILED_OR_NOT),
    attack("harmless.c")
        .options(&["-save-temps", "-dumpdir", "/toolchains/"])
        .ends(COMPILED_OR_NOT),
    attack("harmless.c").options(&["-wrapper", WRAPPER]).ends(COMPILED_OR_NOT),
    attack("harmless.c").options(&["-x", "none", "/usr/bin/env"]).ends(COMPILED_OR_NOT),
    attack("harmless.c").options(&["-B/box/w", "-no-canonical-prefixes"]).ends(COMPILED_OR_NOT),
    attack("harmless.c").options(&["-E", "-dM"]).ends(COMPILED_OR_NOT),
    attack("harmless.c").options(&["--help=common"]).ends(COMPILED_OR_NOT),
];

/// A program of the attacker's choice in the compiler's place. The log shows what it reached.
const WRAPPER: &str = "/bin/sh,-c,for f in /toolchains /usr/bin /etc /dev; do touch $f/attack-out \
    && echo ESCAPED: wrote $f >&2; done; for f in /etc/shadow /root /home /proc/1/environ; do \
    cat $f/. $f 2>/dev/null && echo ESCAPED: read $f >&2; done; exit 1";

pub(crate) fn all() -> impl Iterator<Item = &'static Attack> {
    REFUSED.iter().chain(RESOURCES).chain(COMPILERS)
}
