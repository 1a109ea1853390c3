// Takes a secret file into the program as the assembler allows. Contained: it cannot be opened.
#include <stdio.h>

__asm__("secret: .incbin \"/etc/shadow\"\n.byte 0\n");
extern const char secret[];

int main(void)
{
    printf("ESCAPED: %.200s\n", secret);
    return 1;
}
