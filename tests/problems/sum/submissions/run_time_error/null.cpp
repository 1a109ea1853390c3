#include <cstdio>

int main()
{
    volatile int *volatile nothing = nullptr;
    *nothing = 1;
    puts("3");
}
