// Takes memory as files in memory, 1 GiB in pieces of 16 MiB. Contained: refused, or ended by the
// memory limit.
#include "attack.h"

int main(void)
{
    static char bytes[1 << 20];
    memset(bytes, 1, sizeof bytes);
    signal(SIGXFSZ, SIG_IGN);
    attempts++;
    for (long total = 0; total < 1024;) {
        int file = memfd_create("attack", 0);
        if (file < 0) return verdict();
        for (int at = 0; at < 16; at++, total++)
            if (write(file, bytes, sizeof bytes) != sizeof bytes) return verdict();
    }
    escaped("1 GiB in memory files");
    return verdict();
}
