// Takes memory in several processes, each below the limit: four times 100 MiB of 256. Contained:
// the limit is of all together. Where processes are counted one by one it is not met.
#include "attack.h"

int main(void)
{
    int ready[2], again[2];
    if (pipe(ready) != 0 || pipe(again) != 0) broken("pipe");
    for (int at = 0; at < 4; at++) {
        pid_t child = fork();
        if (child < 0) broken("fork");
        if (child > 0) continue;
        char *block = malloc(100 << 20);
        memset(block, 1, 100 << 20);
        // The second time all of them are still there: one that was ended had given its memory back.
        if (write(ready[1], block, 1) != 1 || read(again[0], block, 1) != 1) _exit(1);
        if (write(ready[1], block, 1) != 1) _exit(1);
        for (;;) pause();
    }
    char bytes[4];
    for (int at = 0; at < 4; at++)
        if (read(ready[0], bytes, 1) != 1) broken("read");
    if (write(again[1], bytes, 4) != 4) broken("write");
    for (int at = 0; at < 4; at++)
        if (read(ready[0], bytes, 1) != 1) broken("read");
    attempts++;
    escaped("400 MiB in four processes");
    return verdict();
}
