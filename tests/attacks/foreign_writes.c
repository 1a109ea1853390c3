// Changes files outside of its box's own disk (`/box`, which is `/tmp` and `/dev/shm` as well): makes,
// writes, links, renames, removes. Contained: nothing else can be changed.
#include "attack.h"
#include <sys/time.h>
#include <sys/xattr.h>

static const char *const FOLDERS[] = {
    "/", "/usr", "/usr/bin", "/usr/lib", "/usr/local/bin", "/usr/lib/python3/dist-packages",
    "/usr/local/lib/python3.11/dist-packages", "/usr/include", "/etc", "/dev", "/proc",
    "/proc/self", "/toolchains", "/box/..", "/var/tmp", "/var", "/run", "/sys", "/lib64",
    "/root", "/home", "../..",
};
static const char *const FILES[] = {
    "/usr/bin/python3.11", "/usr/bin/env", "/usr/bin/gcc", "/etc/passwd", "/etc/group", "/etc/ld.so.cache",
    "/etc/ld.so.preload", "/etc/nsswitch.conf", "/lib64/ld-linux-x86-64.so.2", "/usr/include/stdio.h",
    "/usr/lib/python3.11/os.py",
};
// They are written to, and their files stay as they are: later boxes see the same ones.
static const char *const DEVICES[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

int main(void)
{
    char path[256];
    int file = open("attack-own", O_CREAT | O_WRONLY, 0600);
    if (file < 0) broken("a file of its own");
    for (size_t at = 0; at < sizeof FOLDERS / sizeof *FOLDERS; at++) {
        snprintf(path, sizeof path, "%s/attack-made", FOLDERS[at]);
        attempts++;
        if (open(path, O_CREAT | O_WRONLY, 0600) >= 0) escaped("made %s", path);
        if (mkdir(path, 0700) == 0) escaped("made the folder %s", path);
        if (symlink("/etc/passwd", path) == 0) escaped("linked %s", path);
        if (mkfifo(path, 0600) == 0) escaped("made the pipe %s", path);
        if (link("attack-own", path) == 0) escaped("hard-linked %s", path);
        if (rename("attack-own", path) == 0) escaped("moved to %s", path);
        if (open(FOLDERS[at], O_TMPFILE | O_RDWR, 0600) >= 0) escaped("made a file in %s", FOLDERS[at]);
        if (chmod(FOLDERS[at], 0777) == 0) escaped("opened up %s", FOLDERS[at]);
    }
    for (size_t at = 0; at < sizeof FILES / sizeof *FILES; at++) {
        attempts++;
        if (opens(FILES[at], O_WRONLY)) escaped("opened %s for writing", FILES[at]);
        if (opens(FILES[at], O_WRONLY | O_TRUNC)) escaped("emptied %s", FILES[at]);
        if (unlink(FILES[at]) == 0) escaped("removed %s", FILES[at]);
        if (rename(FILES[at], "attack-taken") == 0) escaped("moved %s", FILES[at]);
        if (rename("attack-own", FILES[at]) == 0) escaped("replaced %s", FILES[at]);
        if (chmod(FILES[at], 0777) == 0) escaped("changed the mode of %s", FILES[at]);
        if (chown(FILES[at], getuid(), getgid()) == 0) escaped("owned %s", FILES[at]);
        if (utimes(FILES[at], NULL) == 0) escaped("changed the times of %s", FILES[at]);
        if (truncate(FILES[at], 0) == 0) escaped("emptied %s", FILES[at]);
        if (setxattr(FILES[at], "user.attack", "x", 1, 0) == 0) escaped("marked %s", FILES[at]);
        if (link(FILES[at], "attack-hard") == 0 && opens("attack-hard", O_WRONLY))
            escaped("wrote %s by a hard link", FILES[at]);
        if (symlink(FILES[at], "attack-soft") == 0 && opens("attack-soft", O_WRONLY))
            escaped("wrote %s by a link", FILES[at]);
        unlink("attack-hard"), unlink("attack-soft");
    }
    for (size_t at = 0; at < sizeof DEVICES / sizeof *DEVICES; at++) {
        static const struct timeval early[2] = {{1, 0}, {1, 0}};
        attempts++;
        if (utimes(DEVICES[at], NULL) == 0) escaped("changed the times of %s", DEVICES[at]);
        if (utimes(DEVICES[at], early) == 0) escaped("set the times of %s", DEVICES[at]);
        if (chmod(DEVICES[at], 0666) == 0) escaped("changed the mode of %s", DEVICES[at]);
        if (chown(DEVICES[at], getuid(), getgid()) == 0) escaped("owned %s", DEVICES[at]);
        if (setxattr(DEVICES[at], "user.attack", "x", 1, 0) == 0) escaped("marked %s", DEVICES[at]);
    }
    return verdict();
}
