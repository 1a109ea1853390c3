// Doubles itself until the machine stands still. Contained: the box holds a bounded number of
// processes and is ended by a limit.
#include <unistd.h>

int main(void)
{
    for (;;) fork();
}
