// Makes empty files and folders without end: they take no space, but memory of the kernel. Contained:
// their number is bounded.
#include "attack.h"

int main(void)
{
    long made = 0;
    attempts++;
    for (; made < 1000000; made++) {
        char path[32];
        snprintf(path, sizeof path, "attack-%ld", made);
        int file = made % 2 ? mkdir(path, 0700) : open(path, O_CREAT | O_WRONLY, 0600);
        if (file < 0) break;
        if (made % 2 == 0) close(file);
    }
    if (made >= 200000) escaped("%ld files", made);
    return verdict();
}
