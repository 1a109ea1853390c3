#include <iostream>

int main()
{
    int a = 0, b = 0;
    std::cin >> a >> b;
    std::cout << static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)) << std::endl;
}
