// Does what it should: adds what it reads.
#include <stdio.h>

int main(void)
{
    long sum = 0, number;
    while (scanf("%ld", &number) == 1) sum += number;
    printf("%ld\n", sum);
    return 0;
}
