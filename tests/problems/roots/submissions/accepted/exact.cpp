#include <cmath>
#include <cstdio>

int main()
{
    for (double number; scanf("%lf", &number) == 1;) printf("%.12f\n", std::sqrt(number));
}
