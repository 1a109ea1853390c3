// Kills, stops and hangs up every process that it may. Contained: only those of its own box are
// met, and it comes to its end as if nothing had been.
#include "attack.h"

int main(void)
{
    static const int numbers[] = {SIGHUP, SIGTERM, SIGSTOP, SIGKILL};
    pid_t child = fork();
    if (child < 0) broken("fork");
    if (child == 0) for (;;) pause();
    for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++) {
        attempts++;
        kill(-1, numbers[at]);
        kill(1, numbers[at]);
    }
    int status;
    must_hold(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "its own child lives");
    return verdict();
}
