// Calls into the parts of the kernel that programs under judgement have no business with, most of
// which have been ways to break it. Contained: each is refused.
#include "attack.h"
#include <sys/klog.h>
#include <sys/utsname.h>

static char zeros[4096] __attribute__((aligned(64)));

static long open_by_handle(void)
{
    // Asks for inode 2, the root folder of most disks, as `shocker` did.
    struct { unsigned bytes; int kind; unsigned char handle[8]; } wanted = {8, 1, {2}};
    int mount = open("/usr", O_RDONLY | O_DIRECTORY);
    return syscall(SYS_open_by_handle_at, mount, &wanted, O_RDONLY);
}

static long perf_event(void)
{
    unsigned attributes[32] = {1 /* software */, 128};
    return syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0);
}

static long add_key(void)
{
    return syscall(SYS_add_key, "user", "attack", "x", 1, -3 /* the process's ring */);
}

static long bpf_map(void)
{
    unsigned attributes[32] = {2 /* array */, 4, 4, 1};
    return syscall(SYS_bpf, 0, attributes, sizeof attributes);
}

static long bpf_program(void)
{
    static const uint64_t code[] = {0xb7, 0x95};
    struct { unsigned kind, count; const uint64_t *code; const char *license; char rest[104]; } attributes =
        {1 /* socket filter */, 2, code, "GPL", ""};
    return syscall(SYS_bpf, 5, &attributes, sizeof attributes);
}

int main(void)
{
    REFUSED("bpf map", bpf_map());
    REFUSED("bpf program", bpf_program());
    REFUSED("perf_event_open", perf_event());
    REFUSED("userfaultfd", syscall(SYS_userfaultfd, 1 /* user mode only */));
    REFUSED("userfaultfd of all", syscall(SYS_userfaultfd, 0));
    REFUSED("io_uring_setup", syscall(SYS_io_uring_setup, 8, zeros));
    REFUSED("io_uring_enter", syscall(SYS_io_uring_enter, 0, 1, 0, 0, NULL, 0));
    REFUSED("io_uring_register", syscall(SYS_io_uring_register, -1, 0, NULL, 0));
    REFUSED("add_key", add_key());
    REFUSED("keyctl", syscall(SYS_keyctl, 0 /* ring */, -3, 1));
    REFUSED("request_key", syscall(SYS_request_key, "user", "attack", NULL, 0));
    REFUSED("init_module", syscall(SYS_init_module, zeros, sizeof zeros, ""));
    REFUSED("finit_module", syscall(SYS_finit_module, 0, "", 0));
    REFUSED("delete_module", syscall(SYS_delete_module, "vsock", O_NONBLOCK));
    REFUSED("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, 0));
    REFUSED("acct", syscall(SYS_acct, "attack-acct"));
    REFUSED("syslog", klogctl(10 /* size */, NULL, 0));
    REFUSED("syslog read", klogctl(3, zeros, sizeof zeros));
    REFUSED("iopl", syscall(SYS_iopl, 3));
    REFUSED("ioperm", syscall(SYS_ioperm, 0x80, 1, 1));
    REFUSED("modify_ldt", syscall(SYS_modify_ldt, 1, zeros, 16));
    REFUSED("settimeofday", syscall(SYS_settimeofday, &(struct timespec){1, 0}, NULL));
    REFUSED("clock_settime", clock_settime(CLOCK_REALTIME, &(struct timespec){1, 0}));
    REFUSED("sethostname", sethostname("attack", 6));
    REFUSED("setdomainname", setdomainname("attack", 6));
    REFUSED("fanotify_init", syscall(SYS_fanotify_init, 0, 0));
    REFUSED("open_by_handle_at", open_by_handle());
    REFUSED("vhangup", syscall(SYS_vhangup));
    REFUSED("memfd_secret", syscall(SYS_memfd_secret, 0));
    REFUSED("ptrace attach to the parent", syscall(SYS_ptrace, 16, getppid(), 0, 0));
    REFUSED("process_madvise", syscall(SYS_process_madvise, -1, NULL, 0, 4, 0));
    REFUSED("move_pages of init", syscall(SYS_move_pages, 1, 0, NULL, NULL, NULL, 0));
    REFUSED("migrate_pages", syscall(SYS_migrate_pages, 1, 8, zeros, zeros));
    REFUSED("reboot", syscall(SYS_reboot, 0xfee1dead, 672274793, 0x89abcdef /* leaves Ctrl-Alt-Del off */, 0));
    REFUSED("nfsservctl", syscall(SYS_nfsservctl, 0, NULL, NULL));
    REFUSED("lookup_dcookie", syscall(SYS_lookup_dcookie, 0ULL, zeros, sizeof zeros));
    struct utsname name;
    must_hold(uname(&name) == 0 && strstr(name.nodename, "attack") == NULL, "the machine was renamed");
    return verdict();
}
