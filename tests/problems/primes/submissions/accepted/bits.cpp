#include <cstdio>
#include <vector>

int main()
{
    long most;
    if (scanf("%ld", &most) != 1) return 1;
    std::vector<bool> composite(most + 1);
    long found = 0;
    for (long n = 2; n <= most; n++) {
        if (composite[n]) continue;
        found++;
        for (long multiple = n * n; multiple <= most; multiple += n) composite[multiple] = true;
    }
    printf("%ld\n", found);
}
