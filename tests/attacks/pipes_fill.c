// Keeps bytes in pipes and sockets, where they belong to no process. Contained: the number of open
// files bounds them, or the memory limit ends it.
#include "attack.h"

int main(void)
{
    static char bytes[1 << 20];
    long kept = 0;
    for (int ends[2]; pipe2(ends, O_NONBLOCK) == 0;) {
        fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
        for (ssize_t wrote; (wrote = write(ends[1], bytes, sizeof bytes)) > 0;) kept += wrote;
    }
    for (int ends[2]; socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0;) {
        int size = 1 << 26;
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        for (ssize_t wrote; (wrote = write(ends[0], bytes, sizeof bytes)) > 0;) kept += wrote;
    }
    attempts++;
    if (kept > 256L << 20) escaped("%ld MiB in pipes", kept >> 20);
    return verdict();
}
