// Opens the machine's devices and makes nodes for them. Contained: there are none and none can be
// made.
#include "attack.h"
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

int main(void)
{
    static const char *const names[] = {
        "vda", "vda1", "sda", "nvme0n1", "loop0", "loop-control", "mem", "kmem", "port", "kmsg", "kvm",
        "vsock", "vhost-vsock", "vhost-net", "fuse", "net/tun", "ppp", "tty", "tty0", "console", "ptmx",
        "pts/0", "pts/ptmx", "hpet", "rtc0", "cuse", "btrfs-control", "userfaultfd", "snapshot",
        "mapper/control", "dri/card0", "nvidia0", "nvidiactl", "autofs", "uinput", "input/event0",
        "hwrng", "nvram", "watchdog", "mqueue", "cpu/0/msr", "vfio/vfio", "sgx_enclave",
    };
    static const struct { unsigned major, minor; mode_t kind; } nodes[] = {
        {1, 1, S_IFCHR}, {1, 11, S_IFCHR}, {5, 0, S_IFCHR}, {5, 2, S_IFCHR}, {7, 0, S_IFBLK}, {8, 0, S_IFBLK},
        {10, 200, S_IFCHR}, {10, 229, S_IFCHR}, {10, 232, S_IFCHR}, {254, 0, S_IFBLK}, {259, 0, S_IFBLK},
    };
    char path[64];
    for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
        snprintf(path, sizeof path, "/dev/%s", names[at]);
        attempts++;
        if (open(path, O_RDONLY | O_NONBLOCK) >= 0) escaped("opened %s", path);
        if (open(path, O_WRONLY | O_NONBLOCK) >= 0) escaped("opened %s for writing", path);
    }
    for (size_t at = 0; at < sizeof nodes / sizeof *nodes; at++) {
        snprintf(path, sizeof path, "attack-node-%zu", at);
        REFUSED(path, mknod(path, nodes[at].kind | 0666, makedev(nodes[at].major, nodes[at].minor)));
    }
    // The harmless ones are what they say.
    char bytes[4] = "abc";
    int zero = open("/dev/zero", O_RDWR), null = open("/dev/null", O_RDWR), full = open("/dev/full", O_RDWR);
    must_hold(read(zero, bytes, 4) == 4 && bytes[0] == 0, "/dev/zero is something else");
    must_hold(read(null, bytes, 4) == 0, "/dev/null is something else");
    must_hold(write(null, bytes, 4) == 4, "/dev/null takes nothing");
    must_hold(write(full, bytes, 4) == -1, "/dev/full is something else");
    must_hold(ioctl(zero, FIONREAD, bytes) == -1, "/dev/zero knows its length");
    return verdict();
}
