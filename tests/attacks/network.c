// Speaks to the machine: its arguments are a TCP port, the name of an abstract socket and the path
// of a socket, at each of which the machine listens. Also the network beyond. Contained: nothing
// answers.
#include "attack.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/un.h>

static struct sockaddr_in address;
static int type = SOCK_STREAM;

static int connects(void)
{
    int plug = socket(AF_INET, type, 0);
    return plug >= 0 && connect(plug, (struct sockaddr *)&address, sizeof address) == 0
            && send(plug, "x", 1, MSG_NOSIGNAL) == 1 ? ESCAPED : CONTAINED;
}

static void try_address(const char *host, int port, int of_type)
{
    char what[64];
    type = of_type;
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1) broken("an address");
    snprintf(what, sizeof what, "%s to %s:%d", type == SOCK_STREAM ? "tcp" : "udp", host, port);
    attempt(what, connects);
}

static int connects_v6(void)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = address.sin_port, .sin6_addr = in6addr_loopback};
    int plug = socket(AF_INET6, SOCK_STREAM, 0);
    return plug >= 0 && connect(plug, (struct sockaddr *)&six, sizeof six) == 0 ? ESCAPED : CONTAINED;
}

static long connect_unix(const char *name, int abstract)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    memcpy(at.sun_path + abstract, name, length);
    int plug = socket(AF_UNIX, SOCK_STREAM, 0);
    if (plug < 0) return -1;
    return connect(plug, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract + length));
}

// An interface other than the loopback would be a way out.
static int has_interface(void)
{
    int plug = socket(AF_INET, SOCK_DGRAM, 0);
    for (int number = 1; plug >= 0 && number < 64; number++) {
        struct ifreq interface = {.ifr_ifindex = number};
        if (ioctl(plug, SIOCGIFNAME, &interface) == 0 && strcmp(interface.ifr_name, "lo") != 0
            && ioctl(plug, SIOCGIFFLAGS, &interface) == 0 && (interface.ifr_flags & IFF_UP)) return ESCAPED;
    }
    return CONTAINED;
}

static int raises_interface(void)
{
    struct ifreq interface = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int plug = socket(AF_INET, SOCK_DGRAM, 0);
    return plug >= 0 && ioctl(plug, SIOCSIFFLAGS, &interface) == 0 ? ESCAPED : CONTAINED;
}

int main(int count, char **arguments)
{
    if (count < 4) broken("port, abstract name and path are its arguments");
    int port = atoi(arguments[1]);
    static const char *const hosts[] = {"127.0.0.1", "127.0.0.2", "0.0.0.0", "10.0.2.2", "172.17.0.1",
                                        "169.254.169.254", "1.1.1.1"};
    for (size_t at = 0; at < sizeof hosts / sizeof *hosts; at++) {
        try_address(hosts[at], port, SOCK_STREAM);
        try_address(hosts[at], 53, SOCK_DGRAM);
    }
    try_address("127.0.0.1", 5432, SOCK_STREAM);
    try_address("127.0.0.1", 22, SOCK_STREAM);
    address.sin_port = htons((uint16_t)port);
    attempt("tcp to [::1]", connects_v6);
    REFUSED("an abstract socket", connect_unix(arguments[2], 1));
    REFUSED("a socket by its path", connect_unix(arguments[3], 0));
    REFUSED("the system's bus", connect_unix("/run/dbus/system_bus_socket", 0));
    REFUSED("docker", connect_unix("/var/run/docker.sock", 0));
    attempt("an interface", has_interface);
    attempt("the loopback was raised", raises_interface);
    return verdict();
}
