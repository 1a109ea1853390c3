// Leaves other things than files where files are asked for: links to the machine's files and folders,
// pipes, sockets, folders, a file that another process goes on swapping with a link. Contained: of
// these nothing is returned, and nobody waits for the pipe.
#include "attack.h"
#include <sys/un.h>

int main(void)
{
    attempts++;
    symlink("/etc/passwd", "attack-soft");
    symlink("/etc", "attack-folder-link");
    symlink("/proc/self/environ", "attack-environ");
    symlink("/dev/zero", "attack-zero");
    link("/etc/passwd", "attack-hard");
    mkfifo("attack-pipe", 0666);
    mkdir("attack-folder", 0755);
    symlink("attack-loop", "attack-loop");
    int plug = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "attack-socket"};
    if (plug >= 0) bind(plug, (struct sockaddr *)&at, sizeof at);
    int locked = open("attack-locked", O_CREAT | O_WRONLY, 0);
    if (locked >= 0 && write(locked, "unreadable\n", 11) != 11) broken("write");
    int plain = open("attack-plain", O_CREAT | O_WRONLY, 0644);
    if (plain < 0 || write(plain, "plain\n", 6) != 6) broken("write");
    pid_t swapper = fork();
    if (swapper < 0) broken("fork");
    if (swapper == 0) {
        setsid();
        for (;;) {
            symlink("/etc/passwd", "attack-swap-link"), rename("attack-swap-link", "attack-swapped");
            int file = open("attack-swap-file", O_CREAT | O_WRONLY, 0644);
            rename("attack-swap-file", "attack-swapped"), close(file);
        }
    }
    return verdict();
}
