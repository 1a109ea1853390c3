#include <iostream>
#include <string>

int main()
{
    long low = 1, high = 1000000;
    for (;;) {
        long middle = (low + high) / 2;
        std::cout << middle << std::endl;
        std::string answer;
        if (!(std::cin >> answer) || answer == "correct") return 0;
        if (answer == "higher") low = middle + 1;
        else high = middle - 1;
    }
}
