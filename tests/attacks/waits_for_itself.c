// Lets its own processes wait for each other's processor, then sleeps: that it had to wait is then no
// sign of a busy machine, and its end by the wall clock is its own doing. Contained: it ends by a limit,
// not as a failure of the machine, which would cost it nothing.
#include "attack.h"

int main(void)
{
    for (int at = 0; at < 14; at++) {
        if (fork() != 0) continue;
        while (processor_seconds() < 0.018) {}
        for (;;) pause();
    }
    for (;;) pause();
}
