// Works in a chain of short-lived processes, each of which starts the next and is gone before anybody
// counts its time. Contained: the time of those that are gone counts too.
#include "attack.h"

int main(void)
{
    for (;;) {
        pid_t child = fork();
        if (child == 0) {
            // Handed to the box's first process at once.
            if (fork() == 0) {
                while (processor_seconds() < 0.02) {}
            }
            _exit(0);
        }
        waitpid(child, NULL, 0);
        usleep(20000);
    }
}
