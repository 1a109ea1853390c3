// Leaves processes behind that have left its session, ignore signals, hold its output open and work
// on after it ended. Contained: the run ends with the program, and they with the run.
#include "attack.h"

int main(void)
{
    for (int at = 0; at < 3; at++) {
        pid_t child = fork();
        if (child < 0) broken("fork");
        if (child == 0) {
            setsid();
            if (fork() != 0) _exit(0);
            for (int number = 1; number < SIGRTMAX; number++) signal(number, SIG_IGN);
            for (int said = 0;;) {
                while (processor_seconds() < 0.05) {}
                usleep(1000);
                // What the program itself says must not be lost among their words.
                if (said++ < 10) dprintf(1, "still here\n");
            }
        }
        if (waitpid(child, NULL, 0) != child) broken("waitpid");
    }
    attempts++;
    return verdict();
}
