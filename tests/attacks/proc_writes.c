// Changes the kernel's settings by /proc: how cores are dumped (a program run as root), limits,
// names; asks for a reboot; maps users. Contained: nothing but its own harmless files can be written.
#include "attack.h"

static int writes(const char *path, const char *text)
{
    int file = open(path, O_WRONLY);
    if (file < 0) return 0;
    int worked = write(file, text, strlen(text)) == (ssize_t)strlen(text);
    close(file);
    return worked;
}

int main(void)
{
    static const struct { const char *path, *text; } settings[] = {
        {"/proc/sys/kernel/core_pattern", "|/box/w/attack"}, {"/proc/sys/kernel/hostname", "attack"},
        {"/proc/sys/kernel/domainname", "attack"}, {"/proc/sys/kernel/modprobe", "/box/w/attack"},
        {"/proc/sys/kernel/hotplug", "/box/w/attack"}, {"/proc/sys/kernel/ns_last_pid", "1000"},
        {"/proc/sys/kernel/pid_max", "301"}, {"/proc/sys/kernel/sysrq", "1"}, {"/proc/sys/kernel/shmmax", "1"},
        {"/proc/sys/kernel/panic_on_oops", "1"}, {"/proc/sys/kernel/randomize_va_space", "0"},
        {"/proc/sys/kernel/yama/ptrace_scope", "0"}, {"/proc/sys/kernel/dmesg_restrict", "0"},
        {"/proc/sys/kernel/unprivileged_bpf_disabled", "0"}, {"/proc/sys/kernel/threads-max", "100"},
        {"/proc/sys/kernel/cad_pid", "2"}, {"/proc/sys/kernel/keys/maxkeys", "1"},
        {"/proc/sys/kernel/msgmax", "1"}, {"/proc/sys/kernel/sem", "1 1 1 1"},
        {"/proc/sys/fs/binfmt_misc/register", ":x:M::x::/x:"}, {"/proc/sys/fs/file-max", "100"},
        {"/proc/sys/fs/suid_dumpable", "1"}, {"/proc/sys/fs/protected_hardlinks", "0"},
        {"/proc/sys/fs/mqueue/queues_max", "100"}, {"/proc/sys/vm/drop_caches", "1"},
        {"/proc/sys/vm/overcommit_memory", "1"}, {"/proc/sys/vm/panic_on_oom", "1"},
        {"/proc/sys/vm/mmap_min_addr", "0"}, {"/proc/sys/net/ipv4/ip_forward", "1"},
        {"/proc/sys/net/ipv4/ping_group_range", "0 70000"},
        {"/proc/sys/net/ipv4/ip_unprivileged_port_start", "0"}, {"/proc/sys/user/max_user_namespaces", "1"},
        {"/proc/sysrq-trigger", "h"}, {"/proc/irq/default_smp_affinity", "1"}, {"/proc/mtrr", "x"},
        {"/proc/acpi/wakeup", "x"}, {"/proc/self/uid_map", "0 0 1"}, {"/proc/self/gid_map", "0 0 1"},
        {"/proc/self/setgroups", "deny"}, {"/proc/self/oom_score_adj", "-1000"}, {"/proc/self/oom_adj", "-17"},
        {"/proc/self/attr/exec", "x"}, {"/proc/self/attr/current", "x"},
        {"/proc/self/timens_offsets", "monotonic 1 0"}, {"/proc/self/make-it-fail", "1"},
        {"/proc/self/sched_autogroup_enabled", "0"}, {"/proc/self/latency", "x"},
        {"/proc/self/projid_map", "0 0 1"}, {"/proc/self/cgroup", "/"}, {"/proc/sched_debug", "x"},
        {"/proc/bus/pci/00/00.0", "x"}, {"/proc/scsi/scsi", "x"}, {"/proc/fs/ext4/options", "x"},
        {"/proc/self/net/../../sys/kernel/core_pattern", "|/box/w/attack"},
    };
    for (size_t at = 0; at < sizeof settings / sizeof *settings; at++) {
        attempts++;
        if (writes(settings[at].path, settings[at].text)) escaped("wrote %s", settings[at].path);
    }
    return verdict();
}
