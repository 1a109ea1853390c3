#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>

int main()
{
    std::string text(std::istreambuf_iterator<char>(std::cin), {});
    for (size_t from = 0; from < text.size();) {
        size_t to = text.find_first_of(" \t\r\n", from);
        if (to == std::string::npos) to = text.size();
        std::reverse(text.begin() + from, text.begin() + to);
        from = to + 1;
    }
    std::cout << text;
}
