// Mounts, unmounts and moves its root, by the old calls and the new. Contained: each is refused.
#include "attack.h"
#include <sys/mount.h>

static long move_root_out(void)
{
    // The old way out of a changed root: another one inside it, with a handle from before.
    mkdir("attack-root", 0700);
    int before = open("/", O_RDONLY | O_DIRECTORY);
    if (chroot("attack-root") != 0) return -1;
    return fchdir(before);
}

int main(void)
{
    mkdir("attack-mount", 0700);
    REFUSED("mount tmpfs", mount("none", "attack-mount", "tmpfs", 0, ""));
    REFUSED("mount proc", mount("none", "attack-mount", "proc", 0, ""));
    REFUSED("mount sysfs", mount("none", "attack-mount", "sysfs", 0, ""));
    REFUSED("mount cgroup2", mount("none", "attack-mount", "cgroup2", 0, ""));
    REFUSED("mount devpts", mount("none", "attack-mount", "devpts", 0, "newinstance"));
    REFUSED("mount overlay", mount("none", "attack-mount", "overlay", 0, "lowerdir=/usr,upperdir=/tmp,workdir=/tmp"));
    REFUSED("mount the disk", mount("/dev/vda", "attack-mount", "ext4", 0, ""));
    REFUSED("bind /", mount("/", "attack-mount", NULL, MS_BIND | MS_REC, NULL));
    REFUSED("remount / writable", mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
    REFUSED("remount /usr writable", mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL));
    REFUSED("make / shared", mount(NULL, "/", NULL, MS_SHARED | MS_REC, NULL));
    REFUSED("unmount /proc", umount2("/proc", MNT_DETACH));
    REFUSED("unmount /usr", umount2("/usr", MNT_DETACH));
    REFUSED("unmount /", umount2("/", MNT_DETACH));
    REFUSED("pivot_root", syscall(SYS_pivot_root, ".", "."));
    REFUSED("chroot", chroot("/"));
    REFUSED("chroot and out", move_root_out());
    REFUSED("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
    REFUSED("fspick", syscall(SYS_fspick, AT_FDCWD, "/", 0));
    REFUSED("fsconfig", syscall(SYS_fsconfig, 0, 6, NULL, NULL, 0));
    REFUSED("fsmount", syscall(SYS_fsmount, 0, 0, 0));
    REFUSED("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */));
    REFUSED("move_mount", syscall(SYS_move_mount, AT_FDCWD, "/usr", AT_FDCWD, "attack-mount", 0));
    REFUSED("mount_setattr", syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &(uint64_t[4]){0}, 32));
    REFUSED("swapon", syscall(SYS_swapon, "/dev/vda", 0));
    REFUSED("quotactl", syscall(SYS_quotactl, 0x800001, "/dev/vda", 0, NULL));
    return verdict();
}
