// Never ends. Contained: ended by its processor time.
int main(void)
{
    for (volatile long n = 0;; n++) {}
}
