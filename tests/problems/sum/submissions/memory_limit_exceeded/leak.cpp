#include <cstring>
#include <iostream>

int main()
{
    long long a, b, kept = 0;
    std::cin >> a >> b;
    for (;;) {
        char *block = new char[1 << 20];
        std::memset(block, static_cast<int>(a), 1 << 20);
        kept += block[b & 0xfff];
        if (kept == 12345678901) break;
    }
    std::cout << a + b << std::endl;
}
