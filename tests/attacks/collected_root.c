// Puts something else in the place of its working folder before files are collected from it: a link to
// the root, so that `etc/passwd` of it is another file than it seems. Contained: only files of its own
// are returned.
#include "attack.h"

int main(void)
{
    attempts++;
    int plain = open("attack-plain", O_CREAT | O_WRONLY, 0644);
    if (plain < 0 || write(plain, "plain\n", 6) != 6) broken("write");
    rename("/box/w", "/box/attack-moved");
    rename("/box/tmp", "/box/attack-tmp");
    symlink("/", "/box/w");
    symlink("/", "/box/tmp");
    return verdict();
}
