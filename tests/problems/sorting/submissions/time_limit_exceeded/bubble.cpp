#include <cstdio>
#include <utility>
#include <vector>

int main()
{
    int count;
    if (scanf("%d", &count) != 1) return 1;
    std::vector<int> numbers(count);
    for (int &number : numbers)
        if (scanf("%d", &number) != 1) return 1;
    for (bool swapped = true; swapped;) {
        swapped = false;
        for (int at = 1; at < count; at++) {
            if (numbers[at - 1] <= numbers[at]) continue;
            std::swap(numbers[at - 1], numbers[at]);
            swapped = true;
        }
    }
    for (int number : numbers) printf("%d ", number);
}
