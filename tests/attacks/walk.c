// Walks through every folder of its world for something that can be written, run with others'
// rights, or spoken to. Contained: outside of the box's own disk there are only read-only files
// and the four harmless devices.
#include "attack.h"
#include <ftw.h>

static const char *const HARMLESS[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/random"};

static int is_own(const char *path)
{
    static const char *const own[] = {"/box", "/w", "/tmp", "/dev/shm", "/proc"};
    for (size_t at = 0; at < sizeof own / sizeof *own; at++) {
        size_t length = strlen(own[at]);
        if (strncmp(path, own[at], length) == 0 && (path[length] == 0 || path[length] == '/')) return 1;
    }
    return 0;
}

static int visit(const char *path, const struct stat *found, int kind, struct FTW *where)
{
    (void)where;
    if (is_own(path)) return kind == FTW_D ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
    attempts++;
    if (kind == FTW_D && access(path, W_OK) == 0) escaped("%s can be written", path);
    if (kind != FTW_F) return FTW_CONTINUE;
    if (S_ISREG(found->st_mode)) {
        if (access(path, W_OK) == 0) escaped("%s can be written", path);
        return FTW_CONTINUE;
    }
    for (size_t at = 0; at < sizeof HARMLESS / sizeof *HARMLESS; at++)
        if (strcmp(path, HARMLESS[at]) == 0) return FTW_CONTINUE;
    escaped("%s is a special file (%o)", path, found->st_mode);
    return FTW_CONTINUE;
}

int main(void)
{
    if (nftw("/", visit, 16, FTW_PHYS | FTW_ACTIONRETVAL) != 0) broken("nftw");
    // A world without the system would prove nothing.
    must_hold(attempts > 1000, "there is nothing to walk through");
    return verdict();
}
