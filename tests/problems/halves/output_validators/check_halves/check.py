"""Two groups with the same sum that hold every number once; `impossible` where there are none."""
import sys
from pathlib import Path

ACCEPTED, WRONG = 42, 43


def judge(given, answer, said):
    words = said.split()
    if answer.split() == ["impossible"]:
        return "there is none" if words != ["impossible"] else None
    try:
        groups = [[int(word) for word in line.split()] for line in said.strip().split("\n")]
    except ValueError:
        return "no numbers"
    if len(groups) != 2:
        return f"{len(groups)} groups"
    if sorted(groups[0] + groups[1]) != sorted(map(int, given.split()[1:])):
        return "other numbers"
    return None if sum(groups[0]) == sum(groups[1]) else "different sums"


given, answer, feedback, *flags = sys.argv[1:]
assert flags == ["strict"], flags
wrong = judge(Path(given).read_text(), Path(answer).read_text(), sys.stdin.read())
if wrong:
    Path(feedback, "judgemessage.txt").write_text(wrong)
sys.exit(WRONG if wrong else ACCEPTED)
