// Looks for what an earlier run left, of itself or of anybody, then leaves something in every way it
// knows. Contained: each run finds a clean box.
#include "attack.h"
#include <dirent.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/un.h>

static const char *const FOLDERS[] = {".", "/tmp", "/var/tmp", "/dev/shm", "/box", "/box/w", "/toolchains", "/home", "/run", "/"};
enum { KEY = 0x61747461 };

static socklen_t abstract(struct sockaddr_un *at)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(at->sun_path + 1, "attack-left", 11);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 12);
}

static void look(void)
{
    for (size_t at = 0; at < sizeof FOLDERS / sizeof *FOLDERS; at++) {
        attempts++;
        DIR *folder = opendir(FOLDERS[at]);
        if (!folder) continue;
        for (struct dirent *entry; (entry = readdir(folder));)
            if (strstr(entry->d_name, "attack")) escaped("%s/%s was left", FOLDERS[at], entry->d_name);
        closedir(folder);
    }
    must_hold(shmget(KEY, 0, 0) == -1, "shared memory was left");
    struct sockaddr_un at;
    socklen_t length = abstract(&at);
    int plug = socket(AF_UNIX, SOCK_STREAM, 0);
    must_hold(plug < 0 || connect(plug, (struct sockaddr *)&at, length) != 0, "a process was left");
}

int main(void)
{
    look();
    for (size_t at = 0; at < sizeof FOLDERS / sizeof *FOLDERS; at++) {
        char path[64];
        snprintf(path, sizeof path, "%s/attack-left", FOLDERS[at]);
        open(path, O_CREAT | O_WRONLY, 0666);
    }
    shmget(KEY, 4096, IPC_CREAT | 0666);
    pid_t child = fork();
    if (child < 0) broken("fork");
    if (child == 0) {
        struct sockaddr_un at;
        socklen_t length = abstract(&at);
        int plug = socket(AF_UNIX, SOCK_STREAM, 0);
        setsid();
        if (plug >= 0 && bind(plug, (struct sockaddr *)&at, length) == 0) listen(plug, 1);
        for (;;) pause();
    }
    return verdict();
}
