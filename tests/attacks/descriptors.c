// Looks behind its standard streams, which should be pipes or memory of its own, and opens as many files
// as it can. Contained: no file of the machine is there, and their number is bounded.
#include "attack.h"

int main(void)
{
    // A link of what is behind a stream would show the machine's files.
    char text[256];
    for (int number = 0; number < 3; number++) {
        char path[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", number);
        ssize_t length = readlink(path, text, sizeof text - 1);
        if (length <= 0) continue;
        text[length] = 0;
        int plain = strncmp(text, "pipe:", 5) == 0 || strncmp(text, "socket:", 7) == 0
            || strncmp(text, "/memfd:", 7) == 0 || strcmp(text, "/dev/null") == 0;
        if (!plain) escaped("stream %d is %.100s", number, text);
    }
    int opened = 0;
    while (opened < 1000000 && dup(1) >= 0) opened++;
    if (opened > 1024) escaped("%d open files", opened);
    attempts++;
    for (int number = 3; number < opened + 3; number++) close(number);
    struct rlimit many = {1 << 20, 1 << 20};
    REFUSED("more open files", setrlimit(RLIMIT_NOFILE, &many));
    return verdict();
}
