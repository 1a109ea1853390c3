// Makes namespaces of its own, by every call and with every flag, in which it would be root; and
// enters those of others. Contained: each call is refused.
#include "attack.h"
#include <linux/sched.h>

static const struct { const char *name; unsigned long flag; } KINDS[] = {
    {"user", CLONE_NEWUSER}, {"mount", CLONE_NEWNS}, {"pid", CLONE_NEWPID}, {"net", CLONE_NEWNET},
    {"ipc", CLONE_NEWIPC}, {"uts", CLONE_NEWUTS}, {"cgroup", CLONE_NEWCGROUP}, {"time", 0x80},
};

static long clone_with(unsigned long flags)
{
    long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    return child;
}

static long clone3_with(unsigned long flags)
{
    struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
    long child = syscall(SYS_clone3, &args, sizeof args);
    if (child == 0) _exit(0);
    return child;
}

static long clone3_into_cgroup(void)
{
    struct clone_args args = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
    int folder = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY);
    if (folder < 0) folder = open("/", O_RDONLY | O_DIRECTORY);
    args.cgroup = (uint64_t)folder;
    long child = syscall(SYS_clone3, &args, sizeof args);
    if (child == 0) _exit(0);
    return child;
}

int main(void)
{
    char what[64];
    for (size_t at = 0; at < sizeof KINDS / sizeof *KINDS; at++) {
        unsigned long flag = KINDS[at].flag;
        snprintf(what, sizeof what, "unshare %s", KINDS[at].name);
        REFUSED(what, syscall(SYS_unshare, flag));
        snprintf(what, sizeof what, "unshare user and %s", KINDS[at].name);
        REFUSED(what, syscall(SYS_unshare, flag | CLONE_NEWUSER));
        if (flag != 0x80) {
            snprintf(what, sizeof what, "clone %s", KINDS[at].name);
            REFUSED(what, clone_with(flag));
            snprintf(what, sizeof what, "clone user and %s", KINDS[at].name);
            REFUSED(what, clone_with(flag | CLONE_NEWUSER));
        }
        snprintf(what, sizeof what, "clone3 user and %s", KINDS[at].name);
        REFUSED(what, clone3_with(flag | CLONE_NEWUSER));
        snprintf(what, sizeof what, "clone3 %s", KINDS[at].name);
        REFUSED(what, clone3_with(flag));
    }
    REFUSED("clone3 into a cgroup", clone3_into_cgroup());
    const char *kinds[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"};
    for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++) {
        for (int of_init = 0; of_init < 2; of_init++) {
            char path[32];
            snprintf(path, sizeof path, "/proc/%s/ns/%s", of_init ? "1" : "self", kinds[at]);
            int space = open(path, O_RDONLY | O_CLOEXEC);
            snprintf(what, sizeof what, "setns %s", path);
            REFUSED(what, syscall(SYS_setns, space, 0));
            if (of_init) must_hold(space < 0, "a namespace of the box's first process was opened");
            if (space >= 0) close(space);
        }
    }
    REFUSED("setns by process", syscall(SYS_setns, (int)syscall(SYS_pidfd_open, 1, 0), CLONE_NEWNS));
    return verdict();
}
