#include <cstdio>
#include <vector>

static std::vector<std::vector<int>> following;
static long long found;

static void walk(int node)
{
    if (node + 1 == static_cast<int>(following.size())) found++;
    for (int to : following[node]) walk(to);
}

int main()
{
    int nodes, edges;
    if (scanf("%d %d", &nodes, &edges) != 2) return 1;
    following.resize(nodes + 1);
    for (int from, to; edges-- && scanf("%d %d", &from, &to) == 2;) following[from].push_back(to);
    walk(1);
    printf("%lld\n", found % 1000000007);
}
