// Dies with a core of 100 MiB, having asked for it to be written. Contained: it dies, nothing is
// written anywhere.
#include "attack.h"
#include <sys/prctl.h>

int main(void)
{
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &all);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    prctl(PR_SET_NAME, "attack-core", 0, 0, 0);
    memset(malloc(100 << 20), 1, 100 << 20);
    abort();
}
