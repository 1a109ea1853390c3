#include <iostream>

int main()
{
    std::cout << "impossible\n";
}
