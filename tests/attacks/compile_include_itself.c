// Includes itself, twice each time. Contained: refused.
#include __FILE__
#include __FILE__
int main(void) { return 0; }
