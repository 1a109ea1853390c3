#include <algorithm>
#include <iostream>
#include <string>

int main()
{
    std::string word;
    std::cin >> word;
    std::reverse(word.begin(), word.end());
    std::cout << word << "\n";
}
