// Types into the terminal of whoever started it, and gets one of its own. Contained: there is none.
#include "attack.h"
#include <sys/ioctl.h>
#include <termios.h>

int main(void)
{
    char letter = 'x';
    for (int stream = 0; stream < 3; stream++) {
        REFUSED("TIOCSTI", ioctl(stream, TIOCSTI, &letter));
        REFUSED("TIOCLINUX", ioctl(stream, TIOCLINUX, &letter));
        REFUSED("TIOCSCTTY", ioctl(stream, TIOCSCTTY, 1));
        REFUSED("TIOCSETD", ioctl(stream, TIOCSETD, &(int){2}));
        REFUSED("TCSETS", ioctl(stream, TCSETS, &(struct termios){0}));
        must_hold(!isatty(stream), "a stream is a terminal");
    }
    REFUSED("/dev/tty", open("/dev/tty", O_RDWR));
    REFUSED("a new terminal", posix_openpt(O_RDWR));
    return verdict();
}
