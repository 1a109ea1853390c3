// Takes a better place at the processor than others have. Contained: real time, deadlines, a better
// nice value, idle-proof input and output are refused.
#include "attack.h"
#include <sys/prctl.h>

static long deadline(void)
{
    struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t runtime, deadline, period; }
        wanted = {48, 6, 0, 0, 0, 9000000, 10000000, 10000000};
    return syscall(SYS_sched_setattr, 0, &wanted, 0);
}

int main(void)
{
    struct sched_param parameters = {.sched_priority = 50};
    int nice_before = getpriority(PRIO_PROCESS, 0);
    REFUSED("SCHED_FIFO", sched_setscheduler(0, SCHED_FIFO, &parameters));
    REFUSED("SCHED_RR", sched_setscheduler(0, SCHED_RR, &parameters));
    REFUSED("SCHED_DEADLINE", deadline());
    REFUSED("nice -20", setpriority(PRIO_PROCESS, 0, -20));
    REFUSED("nice of all of the user", setpriority(PRIO_USER, 0, -20));
    REFUSED("real-time input and output", syscall(SYS_ioprio_set, 1, 0, 1 << 13));
    REFUSED("locked memory", mlock(mmap(NULL, 128 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 128 << 20));
    must_hold(getpriority(PRIO_PROCESS, 0) >= nice_before, "its nice value is better");
    return verdict();
}
