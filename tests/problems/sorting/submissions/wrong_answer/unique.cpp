#include <iostream>
#include <set>

int main()
{
    int count, number;
    std::cin >> count;
    std::set<int> numbers;
    while (std::cin >> number) numbers.insert(number);
    for (int each : numbers) std::cout << each << " ";
    std::cout << "\n";
}
