// Starts programs with more and longer arguments and variables than the kernel should take: each is
// memory of the kernel's own. Contained: refused, or counted.
#include "attack.h"

int main(int count, char **arguments)
{
    (void)arguments;
    if (count > 1) return 0;
    static char text[120 << 10];
    static char *many[4097];
    memset(text, 'x', sizeof text - 1);
    for (int each = 0; each < 4096; each++) many[each] = text;
    for (int step = 16; step <= 4096; step *= 2) {
        many[step] = NULL;
        pid_t child = attempt_begins();
        if (child == 0) {
            execve("/proc/self/exe", many, many);
            _exit(CONTAINED);
        }
        attempt_ends("arguments", child);
        many[step] = text;
    }
    return verdict();
}
