#include <iostream>
#include <unordered_map>

int main()
{
    long count, sum, number;
    std::cin >> count >> sum;
    std::unordered_map<long, long> places;
    for (long at = 1; at <= count && std::cin >> number; at++) {
        auto found = places.find(sum - number);
        if (found != places.end()) {
            std::cout << found->second << " " << at << "\n";
            return 0;
        }
        places[number] = at;
    }
    std::cout << -1 << "\n";
}
