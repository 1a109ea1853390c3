// Damages the file of its own program, which later runs share: writes, empties, changes its mode, its
// times, locks it, leases it. Contained: the file stays as it is, so that a second run ends like
// the first.
#include "attack.h"
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <linux/fs.h>

static const char *const NAMES[] = {"/proc/self/exe", "/proc/thread-self/exe"};

static int mapped(void)
{
    int file = open("/proc/self/exe", O_RDONLY);
    void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return map == MAP_FAILED ? CONTAINED : ESCAPED;
}

static long immutable(int file)
{
    int flags = FS_IMMUTABLE_FL;
    return ioctl(file, FS_IOC_SETFLAGS, &flags);
}

int main(void)
{
    for (size_t at = 0; at < 2; at++) {
        const char *name = NAMES[at];
        REFUSED("open for writing", open(name, O_RDWR));
        REFUSED("open and empty", open(name, O_WRONLY | O_TRUNC));
        REFUSED("truncate", truncate(name, 0));
        REFUSED("chmod", chmod(name, 0));
        REFUSED("fchmodat2", syscall(452, AT_FDCWD, name, 0, 0));
        REFUSED("unlink", unlink(name));
        REFUSED("rename", rename(name, "attack-taken"));
        REFUSED("link", linkat(AT_FDCWD, name, AT_FDCWD, "attack-linked", AT_SYMLINK_FOLLOW));
        REFUSED("setxattr", setxattr(name, "user.attack", "x", 1, 0));
        struct stat own;
        // Boxes of an ordinary user are the file's owner.
        if (stat(name, &own) == 0 && own.st_uid != getuid()) {
            REFUSED("utimes", utimes(name, NULL));
            REFUSED("utimes of long ago", utimes(name, (struct timeval[2]){{1, 0}, {1, 0}}));
        }
        REFUSED("set an access list", setxattr(name, "system.posix_acl_access", "\2\0\0\0", 4, 0));
    }
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        REFUSED("fchmod", fchmod(file, 0));
        REFUSED("fchmod to run no more", fchmod(file, 0600));
        REFUSED("ftruncate", ftruncate(file, 0));
        REFUSED("write", write(file, "x", 1));
        REFUSED("fallocate", fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
        REFUSED("seals", fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | 0x20 /* F_SEAL_EXEC */));
        REFUSED("a lease", fcntl(file, F_SETLEASE, F_WRLCK));
        REFUSED("immutable", immutable(file));
        // A lock that outlives this run would hold up one that asks for it; both must get it.
        must_hold(flock(file, LOCK_EX | LOCK_NB) == 0, "an earlier run holds a lock");
    }
    attempt("mapped for writing", mapped);
    return verdict();
}
