// Two different places whose numbers add up to the wanted sum; any will do. `-1` where there are none.
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

enum { RIGHT = 0, WRONG = 1, FAILED = 3 };

static int wrong(const char *why)
{
    std::cerr << why << "\n";
    return WRONG;
}

int main(int count, char **arguments)
{
    if (count < 4) return FAILED;
    std::ifstream input(arguments[1]), output(arguments[2]), answer(arguments[3]);
    long places, sum, expected;
    if (!(input >> places >> sum) || !(answer >> expected)) return FAILED;
    std::vector<long> numbers(places + 1);
    for (long at = 1; at <= places; at++) input >> numbers[at];
    long first, second;
    std::string more;
    if (!(output >> first)) return wrong("no number");
    if (first == -1) return expected == -1 && !(output >> more) ? RIGHT : wrong("there is a pair");
    if (!(output >> second)) return wrong("one number");
    if (output >> more) return wrong("more than two numbers");
    if (first == second) return wrong("the same place twice");
    if (first < 1 || first > places || second < 1 || second > places) return wrong("no such place");
    return numbers[first] + numbers[second] == sum ? RIGHT : wrong("another sum");
}
