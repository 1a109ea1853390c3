"""Calls the kernel past Python's library, as a program in C would. Contained: each is refused."""
import ctypes
import os
import sys

kernel = ctypes.CDLL(None, use_errno=True)
CALLS = {
    "unshare": (272, 0x10000000),
    "setns": (308, 0, 0),
    "mount": (165, b"none", b"/tmp", b"tmpfs", 0, b""),
    "chroot": (161, b"/"),
    "ptrace": (101, 16, 1, 0, 0),
    "bpf": (321, 0, None, 0),
    "keyctl": (250, 0, -3, 1),
    "io_uring_setup": (425, 8, None),
    "perf_event_open": (298, None, 0, -1, -1, 0),
    "userfaultfd": (323, 1),
    "open_tree": (428, -100, b"/", 1),
    "setuid": (105, 0),
}
escapes = 0
for name, arguments in CALLS.items():
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os._exit(0 if kernel.syscall(*arguments) == -1 else 42)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 42:
        print("ESCAPED:", name)
        escapes += 1
for path in ["/etc/shadow", "/root", "/proc/1/environ", "/sys/kernel", "/proc/1/root", "/home"]:
    try:
        os.listdir(path) if path in ("/root", "/sys/kernel", "/home") else open(path, "rb").read()
    except OSError:
        continue
    print("ESCAPED:", path)
    escapes += 1
print("contained" if not escapes else "not contained")
sys.exit(1 if escapes else 0)
