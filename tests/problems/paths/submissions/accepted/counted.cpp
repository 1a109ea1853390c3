#include <cstdio>
#include <vector>

int main()
{
    int nodes, edges;
    if (scanf("%d %d", &nodes, &edges) != 2) return 1;
    std::vector<std::vector<int>> next(nodes + 1);
    for (int from, to; edges-- && scanf("%d %d", &from, &to) == 2;) next[from].push_back(to);
    std::vector<long long> ways(nodes + 1);
    ways[1] = 1;
    for (int node = 1; node <= nodes; node++)
        for (int to : next[node]) ways[to] = (ways[to] + ways[node]) % 1000000007;
    printf("%lld\n", ways[nodes]);
}
