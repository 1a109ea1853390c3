// Writes to standard output without end. Contained: ended by the output limit.
#include <string.h>
#include <unistd.h>

int main(void)
{
    static char bytes[1 << 16];
    memset(bytes, 'x', sizeof bytes);
    for (;;) write(1, bytes, sizeof bytes);
}
