"""Writes sample.jsonl: what models might hand in for the tasks in tasks/, right, wrong and broken, each
with the reward that it should get. Run it here after a change: python3 sample.py > sample.jsonl"""

import json
import pathlib

TASKS = pathlib.Path(__file__).parent / "tasks"
# By default; see README.md.
REWARDS = {"success": 1.0, "wrong_answer": 0.0, "execute_error": -0.25, "compile_failed": -0.5,
           "unsupported": -0.5}
NOT_HANDED_IN = {"task.json", "prompt.md", "reference.cu", "baseline.cu"}


def label(folder):
    """The task with the texts of the files that it names."""
    task = json.loads((folder / "task.json").read_text())
    for part in ("reference", "baseline"):
        if part in task:
            task[part]["source"] = (folder / task[part].pop("file")).read_text()
    return task


def candidate(path):
    """What is said of it in its first lines, and the rest, which is what is handed in."""
    lines = path.read_text().splitlines()
    said = {}
    while lines[0][:2] in ("//", "# ") and lines[0].strip("/# ").split(": ")[0] in ("expect", "form", "needs"):
        key, value = lines.pop(0).strip("/# ").split(": ")
        said[key] = value
    return said, "\n".join(lines)


for folder in sorted(TASKS.iterdir()):
    task = label(folder)
    prompt = (folder / "prompt.md").read_text()
    for path in sorted(folder.iterdir()):
        if path.name in NOT_HANDED_IN:
            continue
        said, source = candidate(path)
        language = "python" if path.suffix == ".py" else "cuda"
        print(json.dumps({"key": f"{folder.name}-{path.stem.replace('_', '-')}", "group": folder.name, "prompt": prompt,
                          "response": f"```{language}\n{source}\n```\n", "label": task,
                          "expected": REWARDS[said["expect"]]}))
