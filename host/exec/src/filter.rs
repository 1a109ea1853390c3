//! The system calls that a program in a box may make. A call that is not listed does not exist
//! for it (`ENOSYS`): C libraries fall back where they can, as from `clone3` to `clone`, whose flags can be
//! seen. `sched_yield` and calls that wait for the disk do nothing. A call by another architecture's numbers ends the program.

use std::collections::BTreeMap;
use std::mem::offset_of;

use nix::libc::{self, c_long, seccomp_data, sock_filter};

use crate::job::Purpose;

mod calls;

use calls::{
    ALLOWED, ALLOWED_BY_OLD_NAMES, ALLOWED_TO_COMPILERS, CLONE_SPACES, DISK_CALLS, IOCTL_ALLOWED,
    OTHERS, PRCTL_ALLOWED,
};

/// Numbers from here on are those of another way to call (x32).
const OTHER_NUMBERS: u32 = 0x4000_0000;

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
        // So do these: a box has nothing that must outlast it, and the machine's disk and its cached pages serve others.
        for call in DISK_CALLS {
            decide(*call, vec![give(libc::SECCOMP_RET_ERRNO)]);
        }
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
        for call in [&[libc::SYS_sched_yield], DISK_CALLS].concat() {
            let decided = decide(&filter, ARCHITECTURE, call as u32, [0; 4]);
            assert_eq!(decided, libc::SECCOMP_RET_ERRNO, "{call} succeeds without the kernel");
        }
        for (flags, allowed) in [(libc::MAP_ANONYMOUS, true), (libc::MAP_HUGETLB, false)] {
            let decision =
                decide(&filter, ARCHITECTURE, libc::SYS_mmap as u32, [0, 0, 0, flags as u32]);
            assert_eq!(decision == libc::SECCOMP_RET_ALLOW, allowed, "{flags:#x}");
        }
    }
}
