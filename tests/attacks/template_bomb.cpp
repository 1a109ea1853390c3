// Templates that never end. Contained: ended by a limit.
template <int Depth, class... Parts> struct Bomb {
    using type = typename Bomb<Depth + 1, Parts..., Parts..., int>::type;
    using other = typename Bomb<Depth + 2, Parts..., char, Parts...>::type;
};
Bomb<0>::type bomb;
int main() { return 0; }
