#include <bits/stdc++.h>

struct Word {
    std::string text;
    long count;
};

int main() {
    int lines;
    std::cin >> lines;
    std::map<std::string, long> counts;
    std::vector<long> numbers;
    for (int line = 0; line < lines; line++) {
        std::string text;
        long number;
        std::cin >> text >> number;
        counts[text] += number;
        numbers.push_back(number);
    }
    std::vector<Word> words;
    for (const auto &[text, count] : counts) words.push_back({text, count});
    std::stable_sort(words.begin(), words.end(),
                     [](const Word &a, const Word &b) { return a.count > b.count; });
    std::sort(numbers.begin(), numbers.end());
    long middle = numbers.empty() ? 0 : numbers[numbers.size() / 2];
    for (const Word &word : words) std::cout << word.text << ' ' << word.count << '\n';
    std::cout << std::accumulate(numbers.begin(), numbers.end(), 0L) << ' ' << middle << '\n';
}
