// Closes its streams and works on. Contained: that its output ended is not taken for its end, and it
// is ended by its processor time.
#include <unistd.h>

int main(void)
{
    write(1, "gone\n", 5);
    for (int stream = 0; stream < 3; stream++) close(stream);
    for (volatile long n = 0;; n++) {}
}
