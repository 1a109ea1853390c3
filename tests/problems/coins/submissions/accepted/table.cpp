#include <algorithm>
#include <iostream>
#include <vector>

int main()
{
    int amount;
    std::cin >> amount;
    std::vector<int> least(amount + 1, amount + 1);
    least[0] = 0;
    for (int coin; std::cin >> coin;)
        for (int value = coin; value <= amount; value++)
            least[value] = std::min(least[value], least[value - coin] + 1);
    std::cout << (least[amount] > amount ? -1 : least[amount]) << "\n";
}
