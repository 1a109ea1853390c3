#include <iostream>
#include <string>

int main()
{
    std::string answer;
    for (long guess = 1; answer != "correct"; guess++) {
        std::cout << guess << std::endl;
        if (!(std::cin >> answer)) return 0;
    }
}
