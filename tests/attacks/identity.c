// Looks for what its box should not tell: the machine's name (its first argument) and processes, the
// environment and the open files of those that started it, signals that they left set. Contained:
// a box that looks like every other.
#include "attack.h"
#include <dirent.h>
#include <sys/utsname.h>

extern char **environ;

static void check_processes(void)
{
    DIR *folder = opendir("/proc");
    if (!folder) broken("/proc");
    must_hold(getpid() < 20, "its process id is not one of a fresh box");
    for (struct dirent *entry; (entry = readdir(folder));) {
        long process = strtol(entry->d_name, NULL, 10);
        if (process > 20) escaped("process %ld is visible", process);
    }
    closedir(folder);
}

static void check_signals(void)
{
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int number = 1; number < SIGRTMAX; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) != 0) continue;
        if (action.sa_handler != SIG_DFL) escaped("signal %d is not as it was born", number);
        if (sigismember(&blocked, number) == 1) escaped("signal %d is blocked", number);
    }
    attempts++;
}

int main(int count, char **arguments)
{
    if (count < 2) broken("the machine's name is its argument");
    struct utsname name;
    if (uname(&name) != 0) broken("uname");
    must_hold(strcmp(name.nodename, arguments[1]) != 0, "the machine's name is known");
    char text[4096] = "";
    int file = open("/proc/sys/kernel/hostname", O_RDONLY);
    if (file >= 0 && read(file, text, sizeof text - 1) > 0) {
        text[strcspn(text, "\n")] = 0;
        must_hold(strcmp(text, arguments[1]) != 0, "the machine's name is in /proc");
    }
    if (file >= 0) close(file);

    static const char *const allowed[] = {"PATH=", "HOME=", "LANG=", "LC_", "TMPDIR=", "PYTHON", "OMP_", "USER=", "TZ="};
    for (char **line = environ; *line; line++) {
        int known = 0;
        for (size_t at = 0; at < sizeof allowed / sizeof *allowed; at++)
            known |= strncmp(*line, allowed[at], strlen(allowed[at])) == 0;
        if (!known) escaped("environment: %.60s", *line);
        if (strstr(*line, "ASSAY")) escaped("environment: %.60s", *line);
    }
    for (int number = 3; number < 4096; number++)
        if (fcntl(number, F_GETFD) != -1) escaped("descriptor %d is open", number);
    if (!getcwd(text, sizeof text)) broken("getcwd");
    must_hold(strcmp(text, "/box/w") == 0, "it does not start in its working folder");
    must_hold(getsid(0) != 0 && tcgetpgrp(0) == -1, "it has a terminal");
    check_processes();
    check_signals();
    return verdict();
}
