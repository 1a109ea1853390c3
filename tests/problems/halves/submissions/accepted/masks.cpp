#include <iostream>
#include <vector>

int main()
{
    int count;
    std::cin >> count;
    std::vector<int> numbers(count);
    int total = 0;
    for (int &number : numbers) std::cin >> number, total += number;
    for (long mask = 0; mask < 1L << count; mask++) {
        int sum = 0;
        for (int at = 0; at < count; at++) sum += mask >> at & 1 ? numbers[at] : 0;
        if (sum * 2 != total) continue;
        for (int side = 1; side >= 0; side--) {
            for (int at = 0; at < count; at++)
                if ((mask >> at & 1) == side) std::cout << numbers[at] << " ";
            std::cout << "\n";
        }
        return 0;
    }
    std::cout << "impossible\n";
}
