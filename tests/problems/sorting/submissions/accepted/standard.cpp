#include <algorithm>
#include <cstdio>
#include <vector>

int main()
{
    int count;
    if (scanf("%d", &count) != 1) return 1;
    std::vector<int> numbers(count);
    for (int &number : numbers)
        if (scanf("%d", &number) != 1) return 1;
    std::sort(numbers.begin(), numbers.end());
    for (int number : numbers) printf("%d ", number);
    puts("");
}
