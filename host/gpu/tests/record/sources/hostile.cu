#include <cuda_runtime.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

__global__ void mine(float* x, int n) {}

extern "C" void endless(float* x) {
    for (volatile unsigned turn = 0;; turn = turn + 1) {
    }
}

extern "C" void sleeping(float* x) {
    for (;;) pause();
}

extern "C" void hog(float* x) {
    for (;;) {
        void* more = malloc(1 << 20);
        if (more) memset(more, 1, 1 << 20);
    }
}

extern "C" void bomb(float* x) {
    for (;;) fork();
}

extern "C" void thread(float* x) {
    std::thread other([] {});
    other.join();
}

extern "C" void deep(float* x) {
    volatile char room[4096];
    room[0] = 1;
    deep(x);
    room[1] = room[0];
}

extern "C" void leaves(float* x) { exit(0); }
extern "C" void fails(float* x) { _exit(3); }
extern "C" void aborts(float* x) { abort(); }
extern "C" void null(float* x) { *(volatile int*)8 = 1; }
extern "C" void throws(float* x) { throw std::runtime_error("say \"no\"\n\\"); }
extern "C" void throws_number(float* x) { throw 7; }

extern "C" void talks(float* x) {
    for (;;) printf("................................................................");
}

static void forge(const char* text) {
    const int file = open("trace", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (write(file, text, strlen(text)) < 0) abort();
    _exit(0);
}

#define LAUNCH(kernel, buffer)                                                                        \
    "{\"plan\":{\"steps\":[{\"launch\":{\"kernel\":" kernel ",\"grid\":[9,1,1],\"block\":[1,1,1],"    \
    "\"cooperative\":false,\"shared\":0,\"args\":[{\"address\":[" buffer ",0]},{\"bytes\":[\"01000000\",[]]}]}}]," \
    "\"scratch\":[],\"returned\":[]}}"

extern "C" void forges_own(float* x) { forge(LAUNCH("0", "0")); }
extern "C" void forges_kernel(float* x) { forge(LAUNCH("1", "0")); }
extern "C" void forges_buffer(float* x) { forge(LAUNCH("0", "1")); }
extern "C" void forges_nonsense(float* x) { forge("{\"plan\":{\"steps\":[[[[[["); }

extern "C" void fills(float* x) {
    const int file = open("trace", O_WRONLY | O_CREAT, 0644);
    static char block[1 << 20];
    while (write(file, block, sizeof block) > 0) {
    }
    _exit(0);
}

extern "C" void folder(float* x) { mkdir("trace", 0755); }

// Whatever is to be had here is counted.
extern "C" void looks(float* x) {
    int had = 0;
    had += open("/etc/shadow", O_RDONLY) >= 0;
    had += open("/proc/1/environ", O_RDONLY) >= 0;
    had += open("/proc/1/mem", O_RDONLY) >= 0;
    had += open("/root", O_RDONLY) >= 0;
    had += open("/tmp/../box/../usr/x", O_WRONLY | O_CREAT, 0600) >= 0;
    had += socket(AF_INET, SOCK_STREAM, 0) >= 0;
    had += socket(AF_INET6, SOCK_DGRAM, 0) >= 0;
    had += ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) >= 0;
    had += kill(1, SIGKILL) == 0;
    had += getenv("PATH") != nullptr;
    mine<<<1 + had, 1>>>(x, 0);
}
