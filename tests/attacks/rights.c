// Takes rights: other users and groups, capabilities, a setuid file of its own, and undoing what
// keeps it from gaining any. Contained: it has none, gets none, and every lock is on.
#include "attack.h"
#include <grp.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>

static char status_text[8192];

static unsigned long long field(const char *name, int base)
{
    const char *line = strstr(status_text, name);
    if (!line) broken(name);
    return strtoull(line + strlen(name), NULL, base);
}

static long all_capabilities(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct all[2] = {{~0U, ~0U, ~0U}, {~0U, ~0U, ~0U}};
    return syscall(SYS_capset, &header, all);
}

static long become_root_of_files(void)
{
    setfsuid(0);
    return setfsuid(-1) == 0 ? 0 : -1;
}

static long filter_off(void)
{
    return prctl(PR_SET_SECCOMP, 0, 0, 0, 0);
}

int main(void)
{
    int file = open("/proc/self/status", O_RDONLY);
    if (file < 0 || read(file, status_text, sizeof status_text - 1) <= 0) broken("its status");
    must_hold(getuid() != 0 && geteuid() != 0 && getgid() != 0 && getegid() != 0, "it is root");
    must_hold(field("NoNewPrivs:", 10) == 1, "it may gain rights by running programs");
    must_hold(field("Seccomp:", 10) == 2, "its system calls are not filtered");
    static const char *const sets[] = {"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"};
    for (size_t at = 0; at < 5; at++) must_hold(field(sets[at], 16) == 0, sets[at]);
    gid_t groups[64];
    int count = getgroups(64, groups);
    for (int at = 0; at < count; at++) must_hold(groups[at] != 0, "it is in root's group");

    REFUSED("setuid", setuid(0));
    REFUSED("setgid", setgid(0));
    REFUSED("setreuid", setreuid(0, 0));
    REFUSED("setresuid", setresuid(0, 0, 0));
    REFUSED("setresgid", setresgid(0, 0, 0));
    REFUSED("setresuid to nobody", setresuid(65534, 65534, 65534));
    REFUSED("setgroups", setgroups(0, NULL));
    REFUSED("setfsuid", become_root_of_files());
    REFUSED("capset", all_capabilities());
    REFUSED("ambient capability", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0));
    REFUSED("securebits", prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
    REFUSED("no_new_privs off", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
    REFUSED("seccomp off", filter_off());
    return verdict();
}
