// Leaves many names of one file that has no bytes on disk and claims to be large, and asks for all of them
// to be returned. Contained: what is returned has no more bytes together than the box could hold.
#include "attack.h"

int main(void)
{
    int file = open("link-00", O_CREAT | O_WRONLY, 0600);
    if (file < 0) broken("a file of its own");
    signal(SIGXFSZ, SIG_IGN);
    // As large as a file may be: the limit on disk space.
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0) broken("getrlimit");
    if (ftruncate(file, (off_t)limit.rlim_cur) != 0) broken("ftruncate");
    attempts++;
    for (int at = 1; at < 64; at++) {
        char name[32];
        snprintf(name, sizeof name, "link-%02d", at);
        if (link("link-00", name) != 0) broken("link");
    }
    return verdict();
}
