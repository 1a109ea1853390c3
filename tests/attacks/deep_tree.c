// Digs folders within folders, and makes names and links that are hard to remove. Contained: all of
// it goes with the box.
#include "attack.h"

int main(void)
{
    attempts++;
    symlink("attack-loop", "attack-loop");
    mkdir("attack-\n\x1b[2J\xff", 0700);
    for (int depth = 0; depth < 5000; depth++) {
        if (mkdir("attack-d", 0700) != 0 || chdir("attack-d") != 0) break;
    }
    chmod(".", 0);
    return verdict();
}
