// Hides open files, and memory in them, by sending them through a socket to itself and closing its
// own: neither its limit of open files nor its size shows them. Contained: their number is bounded
// and their memory counted.
#include "attack.h"

static int send_one(int plug, int file)
{
    char byte = 0, space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(header), &file, sizeof file);
    return sendmsg(plug, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

int main(void)
{
    static char bytes[1 << 20];
    memset(bytes, 1, sizeof bytes);
    attempts++;
    long hidden = 0;
    for (int ends[2]; hidden < 1024 && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0;) {
        for (int sent = 1; sent && hidden < 1024;) {
            int file = memfd_create("attack", 0);
            if (file < 0) return verdict();
            if (write(file, bytes, sizeof bytes) != sizeof bytes) return verdict();
            sent = send_one(ends[0], file);
            hidden += sent;
            close(file);
        }
    }
    if (hidden >= 1024) escaped("%ld MiB hidden in sockets", hidden);
    return verdict();
}
