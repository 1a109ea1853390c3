// Enters the kernel by the doors that a filter on 64-bit numbers overlooks: the 32-bit `int 0x80`
// and the x32 numbers. Contained: the call is refused or the process ended, whichever door is taken.
#include "attack.h"

static long by_interrupt(long number)
{
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0), "c"(0), "d"(0) : "memory");
    return result < 0 ? -1 : result;
}

int main(void)
{
    enum { X32 = 0x40000000 };
    REFUSED("getpid by int 0x80", by_interrupt(20));
    REFUSED("fork by int 0x80", by_interrupt(2));
    REFUSED("unshare by int 0x80", by_interrupt(310));
    REFUSED("getpid by x32", syscall(X32 | SYS_getpid));
    REFUSED("unshare by x32", syscall(X32 | SYS_unshare, CLONE_NEWUSER));
    REFUSED("ptrace by x32", syscall(X32 | 521, 16, 1, 0, 0));
    REFUSED("execve by x32", syscall(X32 | 520, "/usr/bin/true", NULL, NULL));
    // Numbers that no kernel has, or not yet.
    REFUSED("an unknown number", syscall(1023));
    REFUSED("a huge number", syscall(0x7fffffff));
    REFUSED("a negative number", syscall(-2));
    return verdict();
}
