// Never ends and takes no signal, or takes each as a reason to go on. Contained: ended by its
// processor time all the same.
#include "attack.h"

static void shrug(int number)
{
    (void)number;
}

int main(void)
{
    sigset_t all;
    sigfillset(&all);
    for (int number = 1; number < SIGRTMAX; number++) signal(number, number % 2 ? SIG_IGN : shrug);
    signal(SIGXCPU, shrug);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (volatile long n = 0;; n++) {}
}
