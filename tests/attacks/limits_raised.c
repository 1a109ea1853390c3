// Raises each of its limits, softly and hard. Contained: none of the hard ones moves.
#include "attack.h"

int main(void)
{
    for (int kind = 0; kind < RLIM_NLIMITS; kind++) {
        struct rlimit now, then;
        if (getrlimit((__rlimit_resource_t)kind, &now) != 0) continue;
        attempts++;
        if (now.rlim_max == RLIM_INFINITY) continue;
        struct rlimit more = {now.rlim_max + 1, now.rlim_max + 1}, none = {RLIM_INFINITY, RLIM_INFINITY};
        setrlimit((__rlimit_resource_t)kind, &more);
        setrlimit((__rlimit_resource_t)kind, &none);
        prlimit(getpid(), (enum __rlimit_resource)kind, &none, NULL);
        prlimit(0, (enum __rlimit_resource)kind, &more, NULL);
        getrlimit((__rlimit_resource_t)kind, &then);
        if (then.rlim_max > now.rlim_max) escaped("limit %d was raised", kind);
    }
    // What no cgroup bounds, a limit must.
    static const struct { int kind; const char *name; rlim_t most; } bounded[] = {
        {RLIMIT_CORE, "core", 1}, {RLIMIT_NOFILE, "open files", 1024}, {RLIMIT_RTPRIO, "real time", 0},
        {RLIMIT_NICE, "nice", 20}, {RLIMIT_MEMLOCK, "locked memory", 64 << 20},
        {RLIMIT_MSGQUEUE, "message queues", 1 << 20}, {RLIMIT_SIGPENDING, "pending signals", 1 << 16},
    };
    for (size_t at = 0; at < sizeof bounded / sizeof *bounded; at++) {
        struct rlimit now;
        getrlimit((__rlimit_resource_t)bounded[at].kind, &now);
        attempts++;
        if (now.rlim_max > bounded[at].most)
            escaped("%s: %llu", bounded[at].name, (unsigned long long)now.rlim_max);
    }
    return verdict();
}
