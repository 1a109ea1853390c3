"""The benchmark's peer: a reward server as trainers write one today.

FastAPI and uvicorn, a reward function in plain Python. It keeps nothing (a crash loses every
request), isolates nothing (a reward function that hangs or dies takes its process along), and
knows no batches, retries, limits or versions. Those are what Assay's numbers pay for.

    python -m uvicorn server:app --workers 2 --no-access-log
"""

import re
from fractions import Fraction
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()


class Item(BaseModel):
    prompt: str = ""
    response: str
    label: Any = None


NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:/\d+)?")
BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
FRACTION = re.compile(r"\\[dt]?frac\{(-?\d+)\}\{(\d+)\}")
DIGITS_MAX = 100


def number(text: str) -> Fraction | None:
    """The last number in a text: an integer, a decimal or a fraction."""
    found = NUMBER.findall(FRACTION.sub(r"\1/\2", text))
    if not found or len(found[-1]) > DIGITS_MAX:
        return None
    digits, slash, below = found[-1].replace(",", "").partition("/")
    try:
        return Fraction(digits) / Fraction(below) if slash else Fraction(digits)
    except (ValueError, ZeroDivisionError):
        return None


def trivial(item: Item) -> float:
    return 1.0 if len(item.response) % 2 == 0 else 0.0


def math(item: Item) -> float:
    """GSM8K's rule and a little more: boxed, or behind the last `A:` or `####`, else the last number."""
    boxed = BOXED.findall(item.response)
    if boxed:
        answer = boxed[-1]
    else:
        answer = re.split(r"A:|####", item.response)[-1]
    value = number(answer)
    return 1.0 if value is not None and value == number(str(item.label)) else 0.0


REWARDS = {"trivial": trivial, "math": math}


@app.get("/health")
async def health() -> str:
    return "ok"


@app.post("/{task}/score")
async def score(task: str, item: Item) -> dict[str, float]:
    return {"reward": REWARDS[task](item)}


@app.post("/{task}/score_batch")
async def score_batch(task: str, items: list[Item]) -> list[float]:
    reward = REWARDS[task]
    return [reward(item) for item in items]
