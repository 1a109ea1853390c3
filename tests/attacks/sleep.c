// Sleeps for an hour. Contained: ended by the wall clock, the safety net.
#include <unistd.h>

int main(void)
{
    for (;;) sleep(3600);
}
