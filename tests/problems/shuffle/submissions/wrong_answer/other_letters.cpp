#include <iostream>
#include <string>

int main()
{
    std::string word;
    std::cin >> word;
    std::cout << std::string(word.size(), '?') << "\n";
}
