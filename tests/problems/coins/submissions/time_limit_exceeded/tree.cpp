#include <algorithm>
#include <iostream>
#include <vector>

static std::vector<int> coins;

static int least(int amount)
{
    if (amount == 0) return 0;
    int best = 1000000000;
    for (int coin : coins)
        if (coin <= amount) best = std::min(best, 1 + least(amount - coin));
    return best;
}

int main()
{
    int amount;
    std::cin >> amount;
    for (int coin; std::cin >> coin;) coins.push_back(coin);
    int used = least(amount);
    std::cout << (used >= 1000000000 ? -1 : used) << "\n";
}
