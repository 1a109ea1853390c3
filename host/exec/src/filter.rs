//! The system calls that a program in a box may make. A call that is not listed does not exist
//! for it (`ENOSYS`): C libraries fall back where they can, as from `clone3` to `clone`, whose flags can be
//! seen. `sched_yield` does nothing. A call by another architecture's numbers ends the program.

use std::collections::BTreeMap;
use std::mem::offset_of;

use nix::libc::{self, c_long, seccomp_data, sock_filter};

use crate::job::Purpose;

/// Allowed whatever the arguments are.
const ALLOWED: &[c_long] = &[
    // Files, by paths that the box's world and Landlock bound.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_getdents64,
    libc::SYS_readlinkat,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_fadvise64,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_utimensat,
    libc::SYS_umask,
    libc::SYS_flock,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    // Waiting for descriptors of its own.
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_signalfd4,
    // Memory of its own.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_msync,
    libc::SYS_mlock,
    libc::SYS_munlock,
    libc::SYS_membarrier,
    // Uses of a pair of connected sockets.
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_shutdown,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    // Processes and threads of its own namespace, within the cgroup's number.
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getpgid,
    libc::SYS_setpgid,
    libc::SYS_getsid,
    libc::SYS_setsid,
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rseq,
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_getpriority,
    libc::SYS_getcpu,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    // Time.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_times,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_delete,
    // The process's own ids.
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_capget,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_getrandom,
];

#[cfg(target_arch = "x86_64")]
const ALLOWED_BY_OLD_NAMES: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_creat,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_getdents,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_signalfd,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_getpgrp,
    libc::SYS_pause,
    libc::SYS_alarm,
    libc::SYS_time,
    libc::SYS_arch_prctl,
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_BY_OLD_NAMES: &[c_long] = &[];

/// Linkers set the mode of what they write.
const ALLOWED_TO_COMPILERS: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
];

/// The operations of `prctl`, on the calling thread alone, that are allowed.
const PRCTL_ALLOWED: &[i32] = &[
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_SET_PDEATHSIG,
    libc::PR_GET_PDEATHSIG,
    libc::PR_SET_DUMPABLE,
    libc::PR_GET_DUMPABLE,
    libc::PR_CAPBSET_READ,
    libc::PR_SET_NO_NEW_PRIVS,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_SET_TIMERSLACK,
    libc::PR_GET_TIMERSLACK,
    libc::PR_SET_CHILD_SUBREAPER,
    libc::PR_SET_VMA,
];

/// A new namespace by any of these.
const CLONE_SPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// What starts, reaches or becomes another program, process or machine, or changes the system: absent in a process that is
/// [confined](crate::confine).
const OTHERS: &[c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    // Its flags lie in memory, where a filter sees nothing; libraries fall back to `clone`.
    libc::SYS_clone3,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_by_handle_at,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setgroups,
    libc::SYS_capset,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Numbers from here on are those of another way to call (x32).
const OTHER_NUMBERS: u32 = 0x4000_0000;

/// Terminals alone have these, and only they can be asked for them: `isatty` and window sizes.
const IOCTL_ALLOWED: &[u32] = &[
    libc::TCGETS as u32,
    libc::TIOCGWINSZ as u32,
    libc::FIONREAD as u32,
    libc::FIONBIO as u32,
    libc::FIOCLEX as u32,
    libc::FIONCLEX as u32,
];

/// The architecture as `linux/audit.h` names it: the machine's ELF number, 64 bits, little-endian.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// A filter as the kernel takes it: a program that looks at a call's number and arguments.
///
/// A tree, as the kernel runs it once for each of its calls when it is installed: a list of
/// comparisons takes ten times as long, half a millisecond of every run.
pub(crate) struct SyscallFilter(Vec<sock_filter>);

/// The instructions for the calls from a number on, up to the next number in the map.
type Rules = BTreeMap<u32, Vec<sock_filter>>;

impl SyscallFilter {
    pub(crate) fn new(purpose: Purpose) -> Self {
        let compilers = match purpose {
            Purpose::Compile => ALLOWED_TO_COMPILERS,
            Purpose::Run => &[],
        };
        let mut decisions: BTreeMap<u32, Vec<sock_filter>> = BTreeMap::new();
        let mut decide = |call: c_long, decision: Vec<sock_filter>| {
            let number = u32::try_from(call).expect("numbers of calls are small");
            assert!(decisions.insert(number, decision).is_none(), "call {call} is listed twice");
        };
        for &call in ALLOWED.iter().chain(ALLOWED_BY_OLD_NAMES).chain(compilers) {
            decide(call, vec![give(libc::SECCOMP_RET_ALLOW)]);
        }
        decide(libc::SYS_clone, allow_without(0, CLONE_SPACES.cast_unsigned()));
        // No cgroup counts huge pages to memory.
        decide(libc::SYS_mmap, allow_without(3, libc::MAP_HUGETLB.cast_unsigned()));
        // Its own limits alone: by number it could set those of the box's init.
        decide(libc::SYS_prlimit64, allow_any_of(0, &[0]));
        let prctl: Vec<u32> = PRCTL_ALLOWED.iter().map(|option| option.cast_unsigned()).collect();
        decide(libc::SYS_prctl, allow_any_of(0, &prctl));
        // No watches of folders, which show what other boxes do, as those of inotify, which is absent.
        decide(libc::SYS_fcntl, allow_but(1, libc::F_NOTIFY.cast_unsigned(), libc::EINVAL));
        decide(libc::SYS_ioctl, allow_any_of(1, IOCTL_ALLOWED));
        decide(libc::SYS_socketpair, allow_pair());
        // Does nothing and succeeds: on a busy machine the time that a program gave up would look like time in
        // which it waited for a core.
        decide(libc::SYS_sched_yield, vec![give(libc::SECCOMP_RET_ERRNO)]);
        Self::of(decisions, absent())
    }

    /// Threads may be started, and whatever is not listed may be called.
    pub(crate) fn without_others() -> Self {
        let number = |call: c_long| u32::try_from(call).expect("numbers of calls are small");
        let mut decisions: BTreeMap<u32, Vec<sock_filter>> =
            OTHERS.iter().map(|&call| (number(call), absent())).collect();
        let threads = allow_with(0, libc::CLONE_THREAD.cast_unsigned());
        decisions.insert(number(libc::SYS_clone), threads);
        let allow = vec![give(libc::SECCOMP_RET_ALLOW)];
        let mut filter = Self::of(decisions, allow);
        filter.0.splice(4..4, [jump(libc::BPF_JGE, OTHER_NUMBERS, 0, 1), absent()[0]]);
        filter
    }

    /// `others` is decided about calls that are not listed.
    fn of(decisions: BTreeMap<u32, Vec<sock_filter>>, others: Vec<sock_filter>) -> Self {
        let mut program = vec![
            load(offset_of!(seccomp_data, arch)),
            jump(libc::BPF_JEQ, ARCHITECTURE, 1, 0),
            give(libc::SECCOMP_RET_KILL_PROCESS),
            load(offset_of!(seccomp_data, nr)),
        ];
        program.extend(tree(&ranges(decisions, &others).into_iter().collect::<Vec<_>>()));
        Self(program)
    }

    /// For this process, its children, and all programs that they become.
    pub(crate) fn apply(&self) -> std::io::Result<()> {
        crate::sys::filter_calls(&self.0, 0)
    }

    /// For all threads of this process that there are, too.
    pub(crate) fn apply_to_threads(&self) -> std::io::Result<()> {
        crate::sys::filter_calls(&self.0, libc::SECCOMP_FILTER_FLAG_TSYNC)
    }
}

/// The call does not exist.
fn absent() -> Vec<sock_filter> {
    vec![give(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned())]
}

/// Joins neighbours with the same decision; between the listed ones lie the others.
fn ranges(decisions: BTreeMap<u32, Vec<sock_filter>>, others: &[sock_filter]) -> Rules {
    let mut rules = Rules::from([(0, others.to_vec())]);
    for (number, decision) in decisions {
        rules.insert(number, decision);
        rules.insert(number + 1, others.to_vec());
    }
    let mut last: Option<Vec<sock_filter>> = None;
    rules.retain(|_, decision| {
        let same = last.as_ref() == Some(decision);
        last = Some(decision.clone());
        !same
    });
    rules
}

/// Halves the rules until one is left.
fn tree(rules: &[(u32, Vec<sock_filter>)]) -> Vec<sock_filter> {
    if let [(_, decision)] = rules {
        return decision.clone();
    }
    let (lower, upper) = rules.split_at(rules.len() / 2);
    let (below, above) = (tree(lower), tree(upper));
    let over = u8::try_from(below.len()).expect("half of the rules fit in a jump");
    let mut program = vec![jump(libc::BPF_JGE, upper[0].0, over, 0)];
    program.extend(below);
    program.extend(above);
    program
}

/// Allowed if an argument's lower half, which is all that these calls look at, is one of these.
fn allow_any_of(argument: usize, values: &[u32]) -> Vec<sock_filter> {
    let mut program = vec![load_argument(argument)];
    for (at, &value) in values.iter().enumerate() {
        let over = u8::try_from(values.len() - at).expect("a short list");
        program.push(jump(libc::BPF_JEQ, value, over, 0));
    }
    program.push(give(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()));
    program.push(give(libc::SECCOMP_RET_ALLOW));
    program
}

/// Allowed for pairs of connected sockets, which reach each other only. Datagram sockets (types 2 and 3; 1 and 5 are
/// connected) can be addressed by other boxes once they have a name, which the kernel gives them on request.
fn allow_pair() -> Vec<sock_filter> {
    vec![
        load_argument(0),
        jump(libc::BPF_JEQ, libc::AF_UNIX.cast_unsigned(), 0, 2),
        load_argument(1),
        jump(libc::BPF_JSET, libc::SOCK_DGRAM.cast_unsigned(), 0, 1),
        give(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()),
        give(libc::SECCOMP_RET_ALLOW),
    ]
}

/// Allowed unless an argument's lower half is this value, which the kernel does not know (`error`).
fn allow_but(argument: usize, value: u32, error: i32) -> Vec<sock_filter> {
    vec![
        load_argument(argument),
        jump(libc::BPF_JEQ, value, 0, 1),
        give(libc::SECCOMP_RET_ERRNO | error.cast_unsigned()),
        give(libc::SECCOMP_RET_ALLOW),
    ]
}

/// Allowed if none of these bits is set in an argument.
fn allow_without(argument: usize, bits: u32) -> Vec<sock_filter> {
    vec![
        load_argument(argument),
        jump(libc::BPF_JSET, bits, 0, 1),
        give(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()),
        give(libc::SECCOMP_RET_ALLOW),
    ]
}

/// Allowed if this bit is set in an argument.
fn allow_with(argument: usize, bit: u32) -> Vec<sock_filter> {
    vec![
        load_argument(argument),
        jump(libc::BPF_JSET, bit, 1, 0),
        give(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()),
        give(libc::SECCOMP_RET_ALLOW),
    ]
}

fn load_argument(argument: usize) -> sock_filter {
    let lower_half = if cfg!(target_endian = "little") { 0 } else { 4 };
    load(offset_of!(seccomp_data, args) + 8 * argument + lower_half)
}

fn load(offset: usize) -> sock_filter {
    let offset = u32::try_from(offset).expect("within a small struct");
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0)
}

/// Jumps over so many instructions if the comparison is true, and over so many if it is not.
fn jump(comparison: u32, value: u32, if_true: u8, if_false: u8) -> sock_filter {
    instruction(libc::BPF_JMP | comparison | libc::BPF_K, value, if_true, if_false)
}

fn give(action: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, action, 0, 0)
}

fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: u16::try_from(code).expect("codes are short"), jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's decision, computed for the few instructions that are used.
    fn decide(filter: &SyscallFilter, arch: u32, number: u32, argument: [u32; 4]) -> u32 {
        let (mut at, mut value) = (0, 0);
        loop {
            let it = filter.0[at];
            at += 1;
            let code = u32::from(it.code);
            let taken = match code & !(libc::BPF_JMP | libc::BPF_K) {
                _ if code == libc::BPF_RET | libc::BPF_K => return it.k,
                _ if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                    value = match it.k as usize {
                        k if k == offset_of!(seccomp_data, arch) => arch,
                        k if k == offset_of!(seccomp_data, nr) => number,
                        k => argument[(k - offset_of!(seccomp_data, args)) / 8],
                    };
                    continue;
                }
                libc::BPF_JEQ => value == it.k,
                libc::BPF_JGE => value >= it.k,
                libc::BPF_JSET => value & it.k != 0,
                other => panic!("instruction {other:#x}"),
            };
            at += usize::from(if taken { it.jt } else { it.jf });
        }
    }

    #[test]
    fn what_is_listed_is_allowed_and_nothing_else() {
        let filter = SyscallFilter::new(Purpose::Run);
        let allowed: Vec<u32> = (0..1_000)
            .filter(|&number| {
                decide(&filter, ARCHITECTURE, number, [u32::MAX; 4]) == libc::SECCOMP_RET_ALLOW
            })
            .collect();
        let mut listed: Vec<u32> =
            ALLOWED.iter().chain(ALLOWED_BY_OLD_NAMES).map(|&call| call as u32).collect();
        // But for one of its operations.
        listed.push(libc::SYS_fcntl as u32);
        listed.sort_unstable();
        assert_eq!(allowed, listed);
        for number in [1_000, 0x4000_0000, 0x4000_0000 | libc::SYS_read as u32, u32::MAX] {
            assert_ne!(decide(&filter, ARCHITECTURE, number, [0; 4]), libc::SECCOMP_RET_ALLOW);
        }
        let other = decide(&filter, ARCHITECTURE ^ 1, libc::SYS_read as u32, [0; 4]);
        assert_eq!(other, libc::SECCOMP_RET_KILL_PROCESS);
    }

    #[test]
    fn a_confined_process_starts_and_reaches_nobody() {
        let filter = SyscallFilter::without_others();
        for number in (0..1_000).filter(|&number| number != libc::SYS_clone as u32) {
            let decision = decide(&filter, ARCHITECTURE, number, [0; 4]);
            let listed = OTHERS.contains(&c_long::from(number));
            assert_eq!(decision == libc::SECCOMP_RET_ALLOW, !listed, "{number}");
        }
        let clone = |flags: i32| {
            decide(&filter, ARCHITECTURE, libc::SYS_clone as u32, [flags as u32, 0, 0, 0])
        };
        assert_eq!(clone(libc::CLONE_VM | libc::CLONE_THREAD), libc::SECCOMP_RET_ALLOW);
        assert_ne!(clone(libc::SIGCHLD), libc::SECCOMP_RET_ALLOW);
        for number in [OTHER_NUMBERS, OTHER_NUMBERS | libc::SYS_execve as u32, u32::MAX] {
            assert_ne!(decide(&filter, ARCHITECTURE, number, [0; 4]), libc::SECCOMP_RET_ALLOW);
        }
        let other = decide(&filter, ARCHITECTURE ^ 1, libc::SYS_read as u32, [0; 4]);
        assert_eq!(other, libc::SECCOMP_RET_KILL_PROCESS);
    }

    #[test]
    fn arguments_decide_where_they_matter() {
        let filter = SyscallFilter::new(Purpose::Compile);
        let check = |call: c_long, [first, second]: [u32; 2], allowed: bool| {
            let argument = [first, second, 0, 0];
            let decision = decide(&filter, ARCHITECTURE, call as u32, argument);
            assert_eq!(decision == libc::SECCOMP_RET_ALLOW, allowed, "{call} {argument:?}");
        };
        check(libc::SYS_clone, [libc::CLONE_VM as u32 | libc::CLONE_THREAD as u32, 0], true);
        check(libc::SYS_clone, [libc::CLONE_VM as u32 | libc::CLONE_NEWUSER as u32, 0], false);
        check(libc::SYS_prlimit64, [0, 0], true);
        check(libc::SYS_prlimit64, [1, 0], false);
        check(libc::SYS_ioctl, [1, libc::TCGETS as u32], true);
        check(libc::SYS_ioctl, [1, libc::TIOCSTI as u32], false);
        check(libc::SYS_fcntl, [0, libc::F_GETFL as u32], true);
        check(libc::SYS_fcntl, [0, libc::F_DUPFD_CLOEXEC as u32], true);
        check(libc::SYS_fcntl, [0, libc::F_NOTIFY as u32], false);
        let pair = |family: i32, kind: i32, allowed| {
            let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            check(libc::SYS_socketpair, [family as u32, kind as u32], allowed);
            check(libc::SYS_socketpair, [family as u32, (kind | flags) as u32], allowed);
        };
        pair(libc::AF_UNIX, libc::SOCK_STREAM, true);
        pair(libc::AF_UNIX, libc::SOCK_SEQPACKET, true);
        pair(libc::AF_UNIX, libc::SOCK_DGRAM, false);
        pair(libc::AF_UNIX, libc::SOCK_RAW, false);
        pair(libc::AF_VSOCK, libc::SOCK_STREAM, false);
        check(libc::SYS_fchmod, [0, 0], true);
        let yielded = decide(&filter, ARCHITECTURE, libc::SYS_sched_yield as u32, [0; 4]);
        assert_eq!(yielded, libc::SECCOMP_RET_ERRNO, "it succeeds without the kernel");
        for (flags, allowed) in [(libc::MAP_ANONYMOUS, true), (libc::MAP_HUGETLB, false)] {
            let decision =
                decide(&filter, ARCHITECTURE, libc::SYS_mmap as u32, [0, 0, 0, flags as u32]);
            assert_eq!(decision == libc::SECCOMP_RET_ALLOW, allowed, "{flags:#x}");
        }
    }
}
