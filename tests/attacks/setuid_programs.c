// Runs the system's setuid programs, and makes one. Contained: they run without the rights of their
// owner, if at all.
#include "attack.h"

static const char *program;

static int runs_as_root(void)
{
    // Each of these needs to be root for what it is asked to do, and says so by its status.
    char *const arguments[] = {(char *)program, "-c", "true", NULL};
    int none = open("/dev/null", O_RDWR);
    dup2(none, 0), dup2(none, 1), dup2(none, 2);
    execv(program, arguments);
    return CONTAINED;
}

int main(void)
{
    static const char *const programs[] = {"/usr/bin/su", "/usr/bin/mount", "/usr/bin/umount",
        "/usr/bin/newgrp", "/usr/bin/passwd", "/usr/bin/chsh", "/usr/bin/chfn", "/usr/bin/gpasswd",
        "/usr/bin/sudo", "/usr/bin/pkexec", "/usr/bin/fusermount3", "/usr/bin/ping"};
    for (size_t at = 0; at < sizeof programs / sizeof *programs; at++) {
        program = programs[at];
        pid_t child = attempt_begins();
        if (child == 0) _exit(runs_as_root());
        int status;
        if (waitpid(child, &status, 0) != child) broken("waitpid");
        // `su -c true` of a box that is root would simply succeed.
        if (at == 0) must_hold(!(WIFEXITED(status) && WEXITSTATUS(status) == 0 && access(program, X_OK) == 0),
                               "su made it root");
    }
    int made = open("attack-setuid", O_CREAT | O_WRONLY, 0755);
    if (made < 0) broken("a file of its own");
    REFUSED("chown to root", fchown(made, 0, 0));
    REFUSED("a setuid file", fchmod(made, 04755) == 0 && fchown(made, 0, 0) == 0 ? 0 : -1);
    return verdict();
}
