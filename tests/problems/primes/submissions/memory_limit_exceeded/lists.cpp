// Ever more, whatever the number is.
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main()
{
    for (long kept = 0;; kept++) {
        void *block = malloc(1 << 16);
        if (!block) abort();
        memset(block, 1, 1 << 16);
        if (kept < 0) puts("never");
    }
}
