// Fills the kernel with messages and semaphores that outlive processes. Contained: refused, or
// bounded, and gone with the box (the program runs again).
#include "attack.h"
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

int main(void)
{
    static struct { long kind; char text[8000]; } message = {1, {0}};
    long bytes = 0;
    must_hold(msgget(0x41747461, 0) == -1, "a queue of an earlier run is there");
    must_hold(semget(0x41747461, 1, 0) == -1, "a semaphore of an earlier run is there");
    must_hold(mq_open("/attack", O_RDWR) == (mqd_t)-1, "a named queue of an earlier run is there");
    for (int at = 0; at < 100000; at++) {
        int queue = msgget(at == 0 ? 0x41747461 : IPC_PRIVATE, IPC_CREAT | 0600);
        if (queue < 0) break;
        while (msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT) == 0) bytes += (long)sizeof message.text;
        if (bytes > 1L << 30) break;
    }
    attempts++;
    if (bytes > 600L << 20) escaped("%ld MiB of messages", bytes >> 20);
    for (int at = 0; at < 100000; at++)
        if (semget(at == 0 ? 0x41747461 : IPC_PRIVATE, 200, IPC_CREAT | 0600) < 0) break;
    mq_open("/attack", O_CREAT | O_RDWR, 0600, NULL);
    return verdict();
}
