// Two hundred thousand warnings. Contained: the log is cut and nobody keeps the rest.
#include <stdio.h>

#define A _Pragma("GCC warning \"flood flood flood flood flood flood flood flood flood\"")
#define B A A A A A A A A A A
#define C B B B B B B B B B B
#define D C C C C C C C C C C
#define E D D D D D D D D D D
#define F E E E E E E E E E E
F F

int main(void)
{
    puts("contained");
    return 0;
}
