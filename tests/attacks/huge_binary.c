// A program file of 1 GiB. Contained: ended by a limit of the compiler's, or of what a program may
// weigh.
char bytes[1 << 30] = {1};
int main(void) { return bytes[0]; }
