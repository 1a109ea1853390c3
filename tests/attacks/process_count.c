// Holds as many processes at once as it can; its argument is the most it may have. Contained: no more.
#include "attack.h"

int main(int count, char **arguments)
{
    int most = count > 1 ? atoi(arguments[1]) : 0, held = 1;
    for (; held < 5000; held++) {
        pid_t child = fork();
        if (child < 0) break;
        if (child == 0) for (;;) pause();
    }
    attempts++;
    if (held > most) escaped("%d processes at once", held);
    return verdict();
}
