// Opens sockets of every family, type and protocol that reach kernel code beyond plain streams and
// datagrams; VSOCK reaches past a network namespace. Contained: only plain local and internet
// sockets can be had, if any.
#include "attack.h"

int main(void)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_RDM};
    for (int family = 0; family < 50; family++) {
        for (size_t at = 0; at < sizeof types / sizeof *types; at++) {
            int plain = family == AF_UNIX || (types[at] != SOCK_RAW && (family == AF_INET || family == AF_INET6));
            if (plain) continue;
            attempts++;
            int plug = socket(family, types[at], 0);
            if (plug >= 0) escaped("family %d, type %d", family, types[at]);
            if (plug >= 0) close(plug);
        }
    }
    static const struct { const char *name; int family, type, protocol; } special[] = {
        {"vsock", AF_VSOCK, SOCK_STREAM, 0}, {"raw icmp", AF_INET, SOCK_RAW, 1}, {"raw ip", AF_INET, SOCK_RAW, 255},
        {"raw ipv6", AF_INET6, SOCK_RAW, 58}, {"route", AF_NETLINK, SOCK_RAW, 0}, {"uevent", AF_NETLINK, SOCK_DGRAM, 15},
        {"audit", AF_NETLINK, SOCK_RAW, 9}, {"netfilter", AF_NETLINK, SOCK_RAW, 12}, {"generic", AF_NETLINK, SOCK_RAW, 16},
        {"sock_diag", AF_NETLINK, SOCK_RAW, 4}, {"crypto", AF_ALG, SOCK_SEQPACKET, 0}, {"packet", AF_PACKET, SOCK_RAW, 0x0300},
        {"packet datagrams", AF_PACKET, SOCK_DGRAM, 0x0300}, {"bluetooth", AF_BLUETOOTH, SOCK_RAW, 1},
        {"mptcp", AF_INET, SOCK_STREAM, 262}, {"sctp", AF_INET, SOCK_STREAM, 132}, {"xdp", 44, SOCK_RAW, 0},
        {"tipc", AF_TIPC, SOCK_SEQPACKET, 0}, {"key", AF_KEY, SOCK_RAW, 2}, {"can", AF_CAN, SOCK_RAW, 1},
        {"smc", AF_SMC, SOCK_STREAM, 0}, {"rds", AF_RDS, SOCK_SEQPACKET, 0}, {"ping", AF_INET, SOCK_DGRAM, 1},
    };
    for (size_t at = 0; at < sizeof special / sizeof *special; at++)
        REFUSED(special[at].name, socket(special[at].family, special[at].type, special[at].protocol));
    int pair[2];
    REFUSED("a pair of another family", socketpair(AF_TIPC, SOCK_STREAM, 0, pair));
    REFUSED("a pair that others can address", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    REFUSED("a pair that others can address, by its other name", socketpair(AF_UNIX, SOCK_RAW | SOCK_CLOEXEC, 0, pair));
    return verdict();
}
