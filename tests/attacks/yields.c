// Computes next to nothing, by giving up the processor at each step. Contained: as one that sleeps.
#include <sched.h>
#include <unistd.h>

int main(void)
{
    for (;;) {
        sched_yield();
        usleep(200);
    }
}
