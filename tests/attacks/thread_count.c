// Holds as many threads at once as it can; its argument is the most it may have. Contained: no more.
#include "attack.h"
#include <pthread.h>

static void *waits(void *nothing)
{
    pause();
    return nothing;
}

int main(int count, char **arguments)
{
    int most = count > 1 ? atoi(arguments[1]) : 0, held = 1;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (; held < 20000; held++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, waits, NULL) != 0) break;
    }
    attempts++;
    if (held > most) escaped("%d threads at once", held);
    return verdict();
}
