// Writes 256 MiB to standard error. Contained: what is too much is dropped and the program goes on.
#include "attack.h"

int main(void)
{
    static char bytes[1 << 20];
    memset(bytes, 'x', sizeof bytes);
    for (int at = 0; at < 256; at++) {
        for (size_t done = 0; done < sizeof bytes;) {
            ssize_t wrote = write(2, bytes + done, sizeof bytes - done);
            if (wrote <= 0) broken("its error stream ended");
            done += (size_t)wrote;
        }
    }
    attempts++;
    return verdict();
}
