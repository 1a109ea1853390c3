// Turns against the process that started it: reads its memory, environment and files, traces it,
// stops or kills it, and changes its limits. That process knows what the program must not, and tells
// how the program ended. Contained: nothing of it can be read or changed.
#include "attack.h"
#include <sys/ptrace.h>
#include <sys/uio.h>

static pid_t target;
static long there_too;

static int reads(void)
{
    static const char *const files[] = {"environ", "mem", "maps", "stack", "auxv", "syscall", "pagemap",
                                        "io", "smaps", "personality", "fdinfo/0"};
    char path[64];
    for (size_t at = 0; at < sizeof files / sizeof *files; at++) {
        snprintf(path, sizeof path, "/proc/%d/%s", target, files[at]);
        if (opens(path, O_RDONLY)) {
            escaped("read %s", path);
            return ESCAPED;
        }
    }
    return CONTAINED;
}

static int follows(void)
{
    static const char *const links[] = {"root", "cwd", "exe", "fd/0", "fd/1", "fd/3", "fd/4", "fd/5",
                                        "task/1/root", "map_files"};
    char path[64], text[256];
    for (size_t at = 0; at < sizeof links / sizeof *links; at++) {
        snprintf(path, sizeof path, "/proc/%d/%s", target, links[at]);
        int file = open(path, O_RDONLY | O_NONBLOCK);
        ssize_t length = readlink(path, text, sizeof text - 1);
        if (file >= 0 || length > 0) {
            escaped("followed %s to %.*s", path, length > 0 ? (int)length : 0, text);
            return ESCAPED;
        }
    }
    return CONTAINED;
}

static int writes(void)
{
    static const char *const files[] = {"mem", "oom_score_adj", "comm", "clear_refs", "coredump_filter",
                                        "uid_map", "setgroups", "attr/current", "autogroup", "sched"};
    char path[64];
    for (size_t at = 0; at < sizeof files / sizeof *files; at++) {
        snprintf(path, sizeof path, "/proc/%d/%s", target, files[at]);
        int file = open(path, O_WRONLY);
        if (file >= 0 && write(file, "1", 1) == 1) {
            escaped("wrote %s", path);
            return ESCAPED;
        }
    }
    return CONTAINED;
}

static long vm_read(void)
{
    char bytes[64];
    struct iovec here = {bytes, sizeof bytes}, there = {&there_too, sizeof bytes};
    return process_vm_readv(target, &here, 1, &there, 1, 0);
}

static long vm_write(void)
{
    char bytes[64] = {0};
    struct iovec here = {bytes, sizeof bytes}, there = {&there_too, sizeof bytes};
    return process_vm_writev(target, &here, 1, &there, 1, 0);
}

static long take_descriptor(void)
{
    int process = (int)syscall(SYS_pidfd_open, target, 0);
    for (int number = 0; number < 16; number++) {
        if (syscall(SYS_pidfd_getfd, process, number, 0) >= 0) return 0;
    }
    return -1;
}

// Signals to the box's first process may be accepted by the kernel, which then drops them: what
// counts is that it lives on. If it did not, nobody would see what follows.
static void signals(void)
{
    const int numbers[] = {SIGKILL, SIGSTOP, SIGTERM, SIGSEGV, SIGABRT, SIGQUIT, SIGALRM, SIGHUP,
                                  SIGUSR1, SIGCHLD, SIGXCPU, SIGRTMIN};
    for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++) {
        kill(target, numbers[at]);
        syscall(SYS_tgkill, target, target, numbers[at]);
        syscall(SYS_pidfd_send_signal, (int)syscall(SYS_pidfd_open, target, 0), numbers[at], NULL, 0);
        union sigval value = {0};
        sigqueue(target, numbers[at], value);
    }
    attempts++;
}

static void against(pid_t process)
{
    target = process;
    attempt("its files were read", reads);
    attempt("its links were followed", follows);
    attempt("its files were written", writes);
    REFUSED("ptrace attach", ptrace(PTRACE_ATTACH, target, 0, 0));
    REFUSED("ptrace seize", ptrace(PTRACE_SEIZE, target, 0, 0));
    REFUSED("process_vm_readv", vm_read());
    REFUSED("process_vm_writev", vm_write());
    REFUSED("pidfd_getfd", take_descriptor());
    struct rlimit none = {0, 0};
    REFUSED("prlimit set", prlimit(target, RLIMIT_NOFILE, &none, NULL));
    REFUSED("prlimit of processor time", prlimit(target, RLIMIT_CPU, &none, NULL));
    REFUSED("setpriority", setpriority(PRIO_PROCESS, (id_t)target, 19));
    REFUSED("ioprio_set", syscall(SYS_ioprio_set, 1, target, 3 << 13));
    REFUSED("kcmp", syscall(SYS_kcmp, target, getpid(), 0, 0, 0));
    struct sched_param parameters = {0};
    REFUSED("sched_setscheduler", sched_setscheduler(target, SCHED_IDLE, &parameters));
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    REFUSED("sched_setaffinity", sched_setaffinity(target, sizeof one, &one));
    REFUSED("setpgid", setpgid(target, 0));
    signals();
}

int main(void)
{
    against(1);
    if (getppid() > 1) against(getppid());
    // Processes outside have no number here; small numbers and the usual large ones are tried.
    for (pid_t process = 2; process < 70000; process++) {
        if (process != getpid() && kill(process, 0) == 0) escaped("process %d can be signalled", process);
    }
    return verdict();
}
