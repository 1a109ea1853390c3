#include <iostream>

int main()
{
    std::cout << 1 << std::endl;
    for (volatile long n = 0;; n = n + 1) {}
}
