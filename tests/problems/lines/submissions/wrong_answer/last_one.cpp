#include <cstdio>

int main()
{
    long long count;
    if (scanf("%lld", &count) != 1) return 1;
    for (long long n = 1; n < count; n++) printf("%lld\n", n * n);
    printf("%lld\n", count * count + 1);
}
