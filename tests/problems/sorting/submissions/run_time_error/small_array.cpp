#include <algorithm>
#include <cstdio>
#include <vector>

int main()
{
    int count;
    if (scanf("%d", &count) != 1) return 1;
    std::vector<int> numbers(1000);
    for (int at = 0; at < count; at++)
        if (scanf("%d", &numbers.at(at)) != 1) return 1;
    std::sort(numbers.begin(), numbers.begin() + count);
    for (int at = 0; at < count; at++) printf("%d ", numbers[at]);
}
