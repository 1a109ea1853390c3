// Reads files of the machine that are none of its business: those of the system, of other users, and
// the ones named by its arguments, which everybody may read there. Contained: none can be opened.
#include "attack.h"

int main(int count, char **arguments)
{
    static const char *const paths[] = {
        "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh/ssh_host_ed25519_key", "/root/.bashrc",
        "/root/.ssh/id_rsa", "/etc/machine-id", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf",
        "/var/log/dpkg.log", "/var/lib/dpkg/status", "/var/lib/assay", "/boot", "/home", "/srv", "/mnt",
        "/opt", "/run/secrets", "/run/docker.sock", "/sys/kernel", "/sys/fs/cgroup/cgroup.procs",
        "/sys/class/net", "/sys/devices/virtual/dmi/id/product_uuid", "/proc/kcore", "/proc/kmsg",
        "/proc/keys", "/proc/1/environ", "/proc/kpagecount", "/proc/sysvipc/nothing",
        "/proc/self/root/etc/shadow", "/proc/self/cwd/../../etc/shadow", "/proc/1/root/etc/shadow",
        "/proc/thread-self/root/etc/shadow", "../../etc/shadow", "../../../../../../root/.bashrc",
    };
    for (size_t at = 0; at < sizeof paths / sizeof *paths; at++) {
        attempts++;
        if (opens(paths[at], O_RDONLY)) escaped("read %s", paths[at]);
        if (opens(paths[at], O_RDWR)) escaped("opened %s for writing", paths[at]);
    }
    static const char *const folders[] = {"/root", "/home", "/boot", "/sys/kernel", "/sys/fs/cgroup", "/srv",
                                          "/mnt", "/opt", "/var/lib", "/var/log", "/run/lock", "/media"};
    for (size_t at = 0; at < sizeof folders / sizeof *folders; at++) {
        attempts++;
        if (open(folders[at], O_RDONLY | O_DIRECTORY) >= 0) escaped("opened %s", folders[at]);
    }
    if (count < 2) broken("the machine's files are its arguments");
    for (int at = 1; at < count; at++) {
        attempts++;
        struct stat known;
        if (opens(arguments[at], O_RDONLY)) escaped("read %s", arguments[at]);
        if (stat(arguments[at], &known) == 0) escaped("saw %s", arguments[at]);
        if (symlink(arguments[at], "attack-link") == 0 && opens("attack-link", O_RDONLY))
            escaped("read %s by a link", arguments[at]);
        unlink("attack-link");
    }
    return verdict();
}
