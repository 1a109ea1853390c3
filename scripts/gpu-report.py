#!/usr/bin/env python3
"""Makes a page of what a machine with a GPU reported: COMMIT-FILE REPORT.jsonl LOG... > PAGE.md"""

import datetime
import json
import pathlib
import re
import sys

# A driver's log may be long.
TEXT_MAX = 200


def shown(value):
    if isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = value if isinstance(value, str) else json.dumps(value)
    return (text if len(text) <= TEXT_MAX else text[:TEXT_MAX] + "…").replace("\n", " ").replace("|", "\\|")


def results(text):
    """Each test with how it ended; what a test prints may stand between its name and that."""
    name = None
    for line in text.splitlines():
        started = re.match(r"^test (\S+) \.\.\.", line)
        if started:
            name = started[1]
        ended = re.search(r"(?:^|\s)(ok|FAILED)$", line)
        if name and ended:
            yield name, ended[1]
            name = None


def main():
    commit = pathlib.Path(sys.argv[1]).read_text().strip()
    lines = pathlib.Path(sys.argv[2]).read_text().splitlines()
    logs = "\n".join(pathlib.Path(path).read_text(errors="replace") for path in sys.argv[3:])
    reports = [json.loads(line) for line in lines]
    machine = next((it["value"] for it in reports if it["name"] == "properties"), None)
    today = datetime.date.today().isoformat()
    print(f"# {machine['name'] if machine else 'No GPU'}, {today}\n")
    print(f"Commit {commit}; made by `scripts/gpu-report.py`.\n")
    if not machine:
        print("**Skipped: there was no GPU. Nothing here says anything about one.**\n")
    else:
        print("| property | value |\n|---|---|")
        for name, value in machine.items():
            print(f"| {name} | {shown(value)} |")
        print("\n| what | measured | value | unit |\n|---|---|---:|---|")
        for it in reports:
            if it["name"] != "properties":
                print(f"| {it['test']} | {it['name']} | {shown(it['value'])} | {it['unit']} |")
        print()
    skipped = sorted(set(re.findall(r"SKIPPED: .*", logs)))
    print("| test | result |\n|---|---|")
    for name, result in results(logs):
        print(f"| `{name}` | {'skipped' if not machine else result} |")
    for line in skipped:
        print(f"\n{line}")


main()
