// Makes a file that claims to have 8 TiB, another with a byte far out, and asks for both to be
// returned. Contained: whatever is returned is cut, and quickly.
#include "attack.h"

int main(void)
{
    int file = open("attack-sparse", O_CREAT | O_WRONLY, 0600), far = open("attack-far", O_CREAT | O_WRONLY, 0600);
    if (file < 0 || far < 0) broken("a file of its own");
    attempts++;
    signal(SIGXFSZ, SIG_IGN);
    if (ftruncate(file, 8L << 40) != 0) ftruncate(file, 1L << 30);
    pwrite(far, "x", 1, 6L << 30);
    fallocate(far, 0, 0, 8L << 30);
    return verdict();
}
