// Computes for ever while it is compiled. Contained: ended by a limit.
constexpr unsigned long work(unsigned long n)
{
    unsigned long sum = 0;
    for (unsigned long at = 0; at < n; at++)
        for (unsigned long inner = 0; inner < n; inner++) sum += at ^ inner;
    return sum;
}
constexpr unsigned long a = work(60000000);
int main() { return (int)a; }
