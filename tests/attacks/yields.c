// Computes next to nothing, by giving up the processor at each step, which on a busy machine looks like waiting for a
// core. Contained: as one that sleeps.
#include <sched.h>
#include <unistd.h>

int main(void)
{
    for (;;) {
        sched_yield();
        usleep(200);
    }
}
