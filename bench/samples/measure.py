#!/usr/bin/env python3
"""Measures lists of samples: medians of the calls that the dashboard's sample browser makes.

Fill a data folder with `assay-seed --run-batches 500 --words 300 --tenant platform --batches 489`, start a server on it,
wait until `preparing` is 0, and run this with the server's address in ASSAY_URL, the printed key in ASSAY_API_KEY and
the name of the run. Nothing but Python 3.10 is needed.
"""

import json
import os
import statistics
import sys
import time
import urllib.parse
import urllib.request

ROUNDS = 5
WITHIN_MS = 500


def call(path):
    request = urllib.request.Request(
        os.environ["ASSAY_URL"] + path, headers={"authorization": "Bearer " + os.environ["ASSAY_API_KEY"]}
    )
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=120) as answer:
        body = answer.read()
    return 1e3 * (time.perf_counter() - began), json.loads(body)


def measure(name, path):
    first, _ = call(path)
    others = sorted(call(path)[0] for _ in range(ROUNDS))
    median = statistics.median(others)
    print(f"| {name} | {first:.0f} ms | {median:.0f} ms | {others[-1]:.0f} ms |{' slow' if median > WITHIN_MS else ''}")
    return median


def word_of(response, which):
    """A word of a response, which other responses have or have not."""
    return max(response.split(), key=len) if which == "rare" else response.split()[0]


def main():
    run = urllib.parse.quote(sys.argv[1], safe="")
    _, page = call(f"/v1/samples?run={run}&limit=50")
    if page["preparing"]:
        print(f"{page['preparing']} batches are still being prepared", file=sys.stderr)
    item = page["items"][0]
    batch, words = item["batch"], item["response"]
    quoted = urllib.parse.quote
    common, rare = quoted(word_of(words, "common")), quoted(word_of(words, "rare"))
    of = f"/v1/samples?run={run}&limit=50"
    print("| list | first | median | slowest |\n|---|--:|--:|--:|")
    lists = [("newest first", of)]
    for column in ("reward", "-reward", "-response_chars", "-took_ms", "verdict", "group"):
        lists.append((f"sort={column}", f"{of}&sort={column}"))
    for column in ("-advantage", "prompt", "key", "-component"):
        lists.append((f"sort={column}, without an index", f"{of}&sort={column}&component=correct"))
    verdict = quoted(item["verdict"])
    lists += [
        ("verdict, longest first", f"{of}&verdict={verdict}&sort=-response_chars"),
        ("all_wrong, longest first", f"{of}&group_rewards=all_wrong&sort=-response_chars"),
        ("reward 0.4 to 0.6, newest first", f"{of}&reward_min=0.4&reward_max=0.6"),
        ("a filter that nothing matches", f"{of}&reward_min=1e9"),
        ("one iteration, by reward", f"{of}&iteration_min=7&iteration_max=7&sort=-reward"),
        ("a common word", f"{of}&q={common}"),
        ("a common word, longest first", f"{of}&q={common}&sort=-response_chars"),
        ("a rare word", f"{of}&q={rare}"),
        ("two words, by reward", f"{of}&q={common}+{rare}&sort=-reward"),
        ("a phrase", f"{of}&q=%22{quoted(' '.join(words.split()[:2]))}%22"),
        ("a batch", f"/v1/samples?batch={batch}&limit=50"),
        ("a batch, a common word", f"/v1/samples?batch={batch}&limit=50&q={common}"),
    ]
    for name, path in lists:
        measure(name, path)
    if item.get("group"):
        measure("one prompt's solve rate", f"/v1/runs/{run}/solve-rates?group={quoted(item['group'])}")
    measure("the run's page, 200 iterations", f"/v1/runs/{run}?last=200")


if __name__ == "__main__":
    main()
