"""Writes sample.jsonl: what models might hand in for the tasks in tasks/, right, wrong and broken, each
with the reward that it should get. Run it here after a change: python3 sample.py > sample.jsonl"""

import json
import pathlib

HERE = pathlib.Path(__file__).parent
# By default; see README.md.
REWARDS = {"success": 1.0, "wrong_answer": 0.0, "execute_error": -0.25, "compile_failed": -0.5,
           "unsupported": -0.5}
NOT_HANDED_IN = {"task.json", "prompt.md", "reference.cu", "baseline.cu"}
HEADS = {"task", "expect", "cheat", "form", "needs", "settings"}


def label(folder):
    """The task with the texts of the files that it names."""
    task = json.loads((folder / "task.json").read_text())
    for part in ("reference", "baseline"):
        if part in task:
            task[part]["source"] = (folder / task[part].pop("file")).read_text()
    return task


def response(path):
    """What is said of it in its first lines, and what is handed in."""
    lines = path.read_text().splitlines()
    said = {}
    while lines[0][:2] in ("//", "# ") and lines[0].strip("/# ").split(": ")[0] in HEADS:
        key, value = lines.pop(0).strip("/# ").split(": ", 1)
        said[key] = value
    source = "\n".join(lines)
    language = {".cu": "cuda", ".py": "python"}.get(path.suffix)
    return said, f"```{language}\n{source}\n```\n" if language else source


def candidates(here=HERE):
    """Each candidate of each task: the line that is scored, and what is said of it."""
    for folder in sorted((here / "tasks").iterdir()):
        task = label(folder)
        prompt = (folder / "prompt.md").read_text()
        for path in sorted(folder.iterdir()):
            if path.name in NOT_HANDED_IN:
                continue
            said, text = response(path)
            key = f"{folder.name}-{path.stem.replace('_', '-')}"
            yield {"key": key, "group": folder.name, "prompt": prompt, "response": text, "label": task}, said


def cheats(here=HERE):
    """Each cheat, likewise."""
    for path in sorted((here / "cheats").iterdir()):
        if path.name != "README.md":
            said, text = response(path)
            task = label(here / "tasks" / said["task"])
            yield {"key": path.stem.replace("_", "-"), "response": text, "label": task}, said


if __name__ == "__main__":
    for line, said in candidates():
        print(json.dumps({**line, "expected": REWARDS[said["expect"]]}))
