"""Compares the `math` plugin with Math-Verify in one run, natively and on one core each.

    make bench-math                              # a data set made here
    make bench-math ARGS="--answers FILE"        # and JSON lines of {response, label, expected}

Prints Markdown: agreement with the labels, wrong acceptances, wrong refusals, and pairs a second of processor
time. Math-Verify gets each pair as its documentation says: `verify(parse(label), parse(response))`.
"""

import argparse
import collections
import json
import logging
import subprocess
import sys
import time
from pathlib import Path

from pairs import pairs

PASSES = 20


def judge_with_plugin(program, rows, settings):
    # Many times over: Linux tells processor time to some milliseconds.
    lines = PASSES * "".join(json.dumps({"response": row["response"], "label": row["label"]}) + "\n" for row in rows)
    done = subprocess.run([program, json.dumps(settings)], input=lines, capture_output=True, text=True, check=True)
    *results, last = map(json.loads, done.stdout.splitlines())
    return [result.get("reward") == 1.0 for result in results[: len(rows)]], last["seconds"] / PASSES


def judge_with_math_verify(rows):
    logging.disable(logging.CRITICAL)
    from math_verify import parse, verify

    def right(row):
        # A bare label is LaTeX, as the documentation advises to mark it.
        label = row["label"] if "$" in row["label"] else f"${row['label']}$"
        return bool(verify(parse(label), parse(row["response"])))

    for row in rows[:20]:
        right(row)
    started = time.process_time()
    verdicts = [right(row) for row in rows]
    return verdicts, time.process_time() - started


def report(name, rows, verdicts, seconds):
    expected = [bool(row["expected"]) for row in rows]
    agree = sum(a == b for a, b in zip(verdicts, expected))
    accepted = sum(a and not b for a, b in zip(verdicts, expected))
    refused = sum(b and not a for a, b in zip(verdicts, expected))
    rate = len(rows) / seconds
    print(f"| {name} | {agree} of {len(rows)} ({100 * agree / len(rows):.2f} %) | {accepted} | {refused} | {rate:,.0f} |")
    return rate


def compare(title, program, rows, show):
    print(f"\n{title}: {len(rows)} pairs, {sum(bool(row['expected']) for row in rows)} of them right\n")
    print("| verifier | agrees | wrong accepted | right refused | pairs a second of processor time |")
    print("|---|---|---|---|---|")
    # The faster of three runs: other programs may hold the core for a while.
    ours = min((judge_with_plugin(program, rows, {}) for _ in range(3)), key=lambda run: run[1])
    fast = report("math", rows, *ours)
    theirs = judge_with_math_verify(rows)
    slow = report("Math-Verify", rows, *theirs)
    print(f"\nmath is {fast / slow:,.0f} times as fast.")
    for name, (verdicts, _) in (("math", ours), ("Math-Verify", theirs)):
        wrong = [row for row, verdict in zip(rows, verdicts) if verdict != bool(row["expected"])]
        kinds = collections.Counter(row.get("kind", "all") for row in wrong)
        if wrong:
            print(f"{name} differs on: " + ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()))
        for row in wrong[:show]:
            print("   ", json.dumps(row, ensure_ascii=False)[:300], file=sys.stderr)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True, help="the plugin's example `score`")
    arguments.add_argument("--answers", type=Path, help="JSON lines of answers with their labels")
    arguments.add_argument("--show", type=int, default=0, help="pairs to show of those judged otherwise")
    options = arguments.parse_args()
    compare("Pairs made from known values", options.program, list(pairs()), options.show)
    if options.answers:
        rows = [json.loads(line) for line in options.answers.read_text().splitlines()]
        compare(options.answers.name, options.program, rows, options.show)


if __name__ == "__main__":
    main()
