int main()
{
    for (volatile long n = 0;; n = n + 1) {}
}
