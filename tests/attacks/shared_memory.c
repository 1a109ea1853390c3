// Takes memory in ways that outlive processes: System V and POSIX shared memory and anonymous
// mappings that are shared, 1 GiB. Contained: refused, or ended by the memory limit.
#include "attack.h"
#include <sys/shm.h>

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    attempts++;
    int refused = 0;
    for (int at = 0; at < 16; at++) {
        int segment = shmget(IPC_PRIVATE, 64 << 20, IPC_CREAT | 0600);
        char *memory = segment < 0 ? (char *)-1 : shmat(segment, NULL, 0);
        if (memory == (char *)-1) refused = 1;
        else memset(memory, 1, 64 << 20);
    }
    if (!refused) escaped("1 GiB of System V memory");
    attempts++;
    int file = shm_open("/attack-shared", O_CREAT | O_RDWR, 0600);
    if (file >= 0 && ftruncate(file, 1L << 30) == 0) {
        char *memory = mmap(NULL, 1L << 30, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory != MAP_FAILED) memset(memory, 1, 1L << 30), escaped("1 GiB of POSIX memory");
    }
    attempts++;
    char *memory = mmap(NULL, 1L << 30, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) memset(memory, 1, 1L << 30), escaped("1 GiB of shared memory");
    return verdict();
}
