// Answers guesses with `lower`, `higher` or `correct`; twenty are allowed.
#include <fstream>
#include <iostream>
#include <string>

enum { ACCEPTED = 42, WRONG = 43 };

int main(int count, char **arguments)
{
    if (count < 4) return 1;
    long secret;
    if (!(std::ifstream(arguments[1]) >> secret)) return 1;
    std::ofstream message(std::string(arguments[3]) + "/judgemessage.txt");
    for (int guesses = 0; guesses < 20; guesses++) {
        long guess;
        if (!(std::cin >> guess)) {
            message << "no number after " << guesses << " guesses\n";
            return WRONG;
        }
        if (guess == secret) {
            std::cout << "correct" << std::endl;
            std::string more;
            if (!(std::cin >> more)) return ACCEPTED;
            message << "talks on after the right guess\n";
            return WRONG;
        }
        std::cout << (guess < secret ? "higher" : "lower") << std::endl;
    }
    message << "more than 20 guesses\n";
    return WRONG;
}
