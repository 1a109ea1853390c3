"""Writes sample.jsonl: small tasks with programs that are right, wrong, slow, broken or missing, each
with the reward that it should get. Run it here after a change: python3 sample.py > sample.jsonl"""

import json

TASKS = {
    "sum": {
        "prompt": "Read two integers and print their sum.",
        "label": {"tests": [{"input": "1 2\n", "output": "3\n"}, {"input": "-5 5\n", "output": "0\n"},
                            {"input": "2000000000 2000000000\n", "output": "4000000000\n"}]},
        "responses": [
            ("right", 1.0, "Use 64 bits.\n```cpp\n#include <bits/stdc++.h>\nint main() { long long a, b; std::cin >> a >> b; std::cout << a + b; }\n```"),
            ("right-python", 1.0, "```python\nprint(sum(map(int, input().split())))\n```"),
            ("overflows", 0.0, "```cpp\n#include <bits/stdc++.h>\nint main() { int a, b; std::cin >> a >> b; std::cout << (int)(unsigned)(a + 0u + b); }\n```"),
            ("does-not-compile", 0.0, "```cpp\nint main() { retrun 0; }\n```"),
            ("no-code", 0.0, "The sum of two integers is what you get when you add them."),
        ],
    },
    "words": {
        "prompt": "Count the distinct words of the input.",
        "label": {"tests": [{"input": "a b a\nc\n", "output": "3\n"}, {"input": "", "output": "0\n"}]},
        "responses": [
            ("right", 1.0, "```python\nimport sys\nprint(len(set(sys.stdin.read().split())))\n```"),
            ("one-line-only", 0.0, "```python\nprint(len(set(input().split())))\n```"),
            ("endless", 0.0, "```python\nwhile True:\n    pass\n```"),
            ("exits-early", 0.0, "```python\nimport os\nprint(3)\nos._exit(0)\n```"),
        ],
    },
    "fibonacci": {
        "prompt": "def fibonacci(n: int) -> int:\n    \"\"\"The n-th Fibonacci number, the 0th is 0.\"\"\"\n",
        "label": {"prompt": "def fibonacci(n: int) -> int:\n    \"\"\"The n-th Fibonacci number, the 0th is 0.\"\"\"\n",
                  "entry_point": "fibonacci",
                  "test": "def check(candidate):\n    assert [candidate(n) for n in range(8)] == [0, 1, 1, 2, 3, 5, 8, 13]\n    assert candidate(90) == 2880067194370816120\n"},
        "responses": [
            ("body", 1.0, "```python\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n```"),
            ("whole", 1.0, "```python\ndef fibonacci(n: int) -> int:\n    a, b = 0, 1\n    while n:\n        a, b, n = b, a + b, n - 1\n    return a\n```"),
            ("lies", 0.0, "```python\nclass Any:\n    def __eq__(self, other):\n        return True\n\ndef fibonacci(n: int) -> int:\n    return Any()\n```"),
            ("too-slow", 0.0, "```python\ndef fibonacci(n: int) -> int:\n    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)\n```"),
            ("leaves", 0.0, "```python\nimport sys\nsys.exit(0)\n```"),
        ],
    },
    "root": {
        "prompt": "Print the square root of the input with six digits.",
        "label": {"tests": [{"input": "2\n", "output": "1.414214\n"}, {"input": "1e6\n", "output": "1000\n"}],
                  "compare": {"floats": {"absolute": 1e-6, "relative": 1e-6}}},
        "responses": [
            ("right", 1.0, "```python\nprint(float(input()) ** 0.5)\n```"),
            ("rounded", 0.0, "```python\nprint(round(float(input()) ** 0.5))\n```"),
        ],
    },
}

for task, parts in TASKS.items():
    for name, expected, response in parts["responses"]:
        print(json.dumps({"key": f"{task}-{name}", "group": task, "prompt": parts["prompt"],
                          "response": response, "label": parts["label"], "expected": expected}))
