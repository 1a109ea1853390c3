// Fills the kernel with things to be watched, and watchers that watch each other. Contained: their
// number is bounded, whatever they are.
#include "attack.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>

static int count_until_refused(int (*make)(void))
{
    int made = 0;
    static int files[5000];
    while (made < 5000 && (files[made] = make()) >= 0) made++;
    for (int at = 0; at < made; at++) close(files[at]);
    return made;
}

static int an_epoll(void)
{
    return epoll_create1(0);
}

static int an_event(void)
{
    return eventfd(0, 0);
}

static int an_inotify(void)
{
    return inotify_init1(0);
}

static int a_timer(void)
{
    return timerfd_create(CLOCK_MONOTONIC, 0);
}

static int a_process(void)
{
    return (int)syscall(SYS_pidfd_open, getpid(), 0);
}

int main(void)
{
    static const struct { const char *name; int (*make)(void); } kinds[] = {
        {"epolls", an_epoll}, {"events", an_event}, {"inotifies", an_inotify}, {"timers", a_timer}, {"processes", a_process},
    };
    for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++) {
        attempts++;
        int made = count_until_refused(kinds[at].make);
        if (made > 1024) escaped("%d %s", made, kinds[at].name);
    }
    // A chain of watchers, closed to a circle where it can be: each look at it walks all of it.
    int chain[60], length = 0;
    while (length < 60 && (chain[length] = epoll_create1(0)) >= 0) length++;
    for (int at = 0; at < length; at++) {
        struct epoll_event event = {EPOLLIN, {0}};
        epoll_ctl(chain[at], EPOLL_CTL_ADD, chain[(at + 1) % length], &event);
    }
    int watcher = inotify_init1(IN_NONBLOCK);
    long watched = 0;
    for (; watcher >= 0 && watched < 200000; watched++) {
        char path[32];
        snprintf(path, sizeof path, "attack-%ld", watched);
        int file = open(path, O_CREAT | O_WRONLY, 0600);
        if (file < 0 || inotify_add_watch(watcher, path, IN_ALL_EVENTS) < 0) break;
        close(file);
    }
    attempts++;
    if (watched >= 200000) escaped("%ld watches", watched);
    // The older kind of watch, of folders alone.
    int folder = open(".", O_RDONLY | O_DIRECTORY);
    if (folder < 0) broken("the working folder");
    REFUSED("a folder is watched", fcntl(folder, F_NOTIFY, DN_CREATE | DN_MODIFY | DN_MULTISHOT));
    return verdict();
}
