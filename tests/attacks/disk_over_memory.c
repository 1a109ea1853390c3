// Fills a disk that is larger than its memory: files count as memory and stay when the program is
// killed for it. Contained: its own end, by a limit, not the end of the process that watches it.
#include "attack.h"

int main(void)
{
    static char bytes[1 << 20];
    int file = open("attack-large", O_CREAT | O_WRONLY, 0600);
    if (file < 0) broken("a file of its own");
    signal(SIGXFSZ, SIG_IGN);
    attempts++;
    for (int at = 0; at < 4; at++) fork();
    for (int at = 0; at < 256; at++) pwrite(file, bytes, sizeof bytes, (off_t)at << 20);
    return verdict();
}
