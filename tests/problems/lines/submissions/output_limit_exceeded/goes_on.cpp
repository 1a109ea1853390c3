#include <cstdio>

int main()
{
    for (long long n = 1;; n++) printf("%lld\n", n * n);
}
