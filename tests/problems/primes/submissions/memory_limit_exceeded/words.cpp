#include <cstdio>
#include <vector>

int main()
{
    long most;
    if (scanf("%ld", &most) != 1) return 1;
    std::vector<long> smallest(most + 1);
    long found = 0;
    for (long n = 2; n <= most; n++) {
        if (smallest[n]) continue;
        found++;
        for (long multiple = n; multiple <= most; multiple += n)
            if (!smallest[multiple]) smallest[multiple] = n;
    }
    printf("%ld\n", found);
}
