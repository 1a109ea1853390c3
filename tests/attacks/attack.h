// What the attack programs share. Each tries to get out of its box, attempt by attempt, each attempt
// in a child of its own, so that one which the kernel ends does not hide the next. What worked is
// printed as `ESCAPED: ...` and makes the exit status 1; a program all of whose attempts failed
// prints `contained` last and exits with 0. An attempt that could not be made at all is `BROKEN`,
// with status 2: it would prove nothing.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONTAINED = 0, ESCAPED = 42 };

static int escapes;
static int attempts;

__attribute__((unused, format(printf, 1, 2))) static void escaped(const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    printf("ESCAPED: ");
    vprintf(format, rest);
    printf("\n");
    va_end(rest);
    fflush(stdout);
    escapes++;
}

__attribute__((unused, noreturn)) static void broken(const char *what)
{
    printf("BROKEN: %s: %s\n", what, strerror(errno));
    fflush(stdout);
    _exit(2);
}

// The last line of every program that lives to its end.
__attribute__((unused)) static int verdict(void)
{
    if (attempts == 0) broken("nothing was tried");
    printf(escapes ? "not contained: %d of %d\n" : "contained (%d of %d worked)\n", escapes, attempts);
    return escapes ? 1 : 0;
}

// Something that must hold, looked at without a child.
__attribute__((unused)) static void must_hold(int holds, const char *what)
{
    attempts++;
    if (!holds) escaped("%s", what);
}

__attribute__((unused)) static pid_t attempt_begins(void)
{
    attempts++;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) broken("fork");
    // One that hangs has shown nothing; it is to be noticed before the box's own limits are.
    if (child == 0) alarm(3);
    return child;
}

__attribute__((unused)) static void attempt_ends(const char *what, pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child) broken("waitpid");
    if (WIFEXITED(status) && WEXITSTATUS(status) == ESCAPED) escaped("%s", what);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) _exit(2);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) escaped("%s: stuck", what);
}

// A system call that must be refused, by an error or by the program's end.
#define REFUSED(what, call)                                       \
    do {                                                          \
        pid_t child_ = attempt_begins();                          \
        if (child_ == 0) _exit((long)(call) == -1 ? CONTAINED : ESCAPED); \
        attempt_ends(what, child_);                               \
    } while (0)

// A function that returns ESCAPED when it got what it wanted.
__attribute__((unused)) static void attempt(const char *what, int (*try)(void))
{
    pid_t child = attempt_begins();
    if (child == 0) _exit(try());
    attempt_ends(what, child);
}

// Whether a file can be opened so and, where it can be read, has a byte.
__attribute__((unused)) static int opens(const char *path, int flags)
{
    char byte;
    int file = open(path, flags | O_NONBLOCK | O_CLOEXEC, 0600);
    if (file < 0) return 0;
    int got = (flags & O_ACCMODE) == O_RDONLY ? read(file, &byte, 1) == 1 : 1;
    close(file);
    return got;
}

__attribute__((unused)) static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// The same for the processor time of this process alone.
__attribute__((unused)) static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
