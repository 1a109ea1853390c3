// Fills the kernel with timers and signals that wait. Contained: their number is bounded.
#include "attack.h"

int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    long made = 0;
    for (timer_t timer; made < 1000000 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0; made++) {
        struct itimerspec often = {{0, 1000}, {0, 1000}};
        timer_settime(timer, 0, &often, NULL);
    }
    attempts++;
    if (made > 70000) escaped("%ld timers", made);
    long queued = 0;
    union sigval value = {0};
    while (queued < 1000000 && sigqueue(getpid(), SIGRTMIN + 1, value) == 0) queued++;
    attempts++;
    if (queued > 70000) escaped("%ld signals", queued);
    return verdict();
}
