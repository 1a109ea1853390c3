// Four processes that never end. Contained: their processor time is counted together.
#include <unistd.h>

int main(void)
{
    fork(), fork();
    for (volatile long n = 0;; n++) {}
}
