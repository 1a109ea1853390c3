// The right answer, but not an end that is right.
#include <iostream>

int main()
{
    long long a, b;
    std::cin >> a >> b;
    std::cout << a + b << std::endl;
    return 42;
}
