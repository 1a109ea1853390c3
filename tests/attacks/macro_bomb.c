// Two to the power of forty words from forty lines. Contained: ended by a limit.
#define A(x) x x
#define B(x) A(A(A(A(x))))
#define C(x) B(B(B(B(x))))
#define D(x) C(C(x))
#define E(x) D(B(B(x)))
int main(void) { return 0; }
char *words[] = { E(D("x",)) };
