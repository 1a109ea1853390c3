// Puts the box's first process in the place of its working folder before files are collected from it:
// what is asked for is then that process's memory, which cannot be read at its beginning, or tells
// what is none of the program's business. Contained: nothing is returned, and the run ends as it did.
#include "attack.h"

int main(void)
{
    attempts++;
    if (rename("/box/w", "/box/attack-moved") != 0) return verdict();
    symlink("/proc/1", "/box/w");
    return verdict();
}
