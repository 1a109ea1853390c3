// Works before `main` and after it: constructors, exit handlers, a thread that ends the process.
// Contained: it is one run like any other.
#include "attack.h"

__attribute__((constructor)) static void before(void)
{
    for (int at = 0; at < 4; at++)
        if (fork() == 0) for (;;) pause();
}

static void after(void)
{
    while (processor_seconds() < 0.2) {}
    kill(getppid(), SIGKILL);
    _exit(0);
}

int main(void)
{
    attempts++;
    atexit(after);
    int result = verdict();
    fflush(stdout);
    return result;
}
