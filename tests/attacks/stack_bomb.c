// Grows its stack to 1 GiB. Contained: it ends with a signal or by the memory limit.
#include "attack.h"

static volatile char sink;

static void grow(int depth)
{
    volatile char frame[1 << 16];
    frame[0] = (char)depth;
    frame[sizeof frame - 1] = frame[0];
    sink = frame[sizeof frame - 1];
    if (depth < 1 << 14) grow(depth + 1);
    sink = frame[0];
}

int main(void)
{
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_STACK, &all);
    getrlimit(RLIMIT_STACK, &all);
    all.rlim_cur = all.rlim_max;
    setrlimit(RLIMIT_STACK, &all);
    attempts++;
    grow(0);
    escaped("1 GiB of stack");
    return verdict();
}
