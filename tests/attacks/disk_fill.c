// Fills its folders with bytes. Contained: the disk limit refuses the rest, or the memory limit,
// in which files count as well, ends it.
#include "attack.h"

static const char *const FOLDERS[] = {".", "/tmp", "/dev/shm", "/box"};

int main(void)
{
    static char bytes[1 << 20];
    long wrote = 0;
    attempts++;
    signal(SIGXFSZ, SIG_IGN);
    for (int at = 0; at < 64; at++) {
        char path[64];
        snprintf(path, sizeof path, "%s/attack-%d", FOLDERS[at % 4], at);
        int file = open(path, O_CREAT | O_WRONLY, 0600);
        if (file < 0) break;
        for (int block = 0; block < 64 && write(file, bytes, sizeof bytes) == sizeof bytes; block++) wrote++;
        close(file);
    }
    // What it was given is 32 MiB.
    if (wrote > 33) escaped("%ld MiB written", wrote);
    return verdict();
}
