// Takes huge pages, which the machine keeps for others and no memory limit counts. Contained: refused.
#include "attack.h"

static int has_huge_page(void)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE;
    return mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED ? CONTAINED : ESCAPED;
}

int main(void)
{
    attempt("a huge page", has_huge_page);
    return verdict();
}
