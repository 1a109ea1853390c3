"""Writes sample.jsonl: answers to mathematics questions as models write them.

Four answers to each question. The questions come from the templates below with seeded numbers; the
right and the wrong answers, and every form in which an answer is written, are stated by the
templates: `expected` owes nothing to the plugin. Standard library only.

    python3 sample.py > sample.jsonl
"""

import json
import random
from fractions import Fraction

SEED = 20_260_401
ROUNDS = 4


def tex(value):
    """A fraction in LaTeX."""
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def slash(value):
    return str(Fraction(value))


def words(rng, value):
    """A whole number with its thousands set apart in one of the usual ways."""
    return f"{value:,}".replace(",", rng.choice([",", "{,}", "\\,", ""]))


# Each template gives (prompt, label, forms of the right answer, wrong answers).


def addition(rng):
    a, b = rng.randint(1_000, 90_000), rng.randint(1_000, 90_000)
    right = a + b
    prompt = f"A library owns {a:,} books and is given {b:,} more. How many does it own now?"
    return prompt, str(right), [words(rng, right), f"{right} books", f"{right}.0"], [
        words(rng, right + 10), str(right - 1_000), f"{abs(a - b) + 1} books"]


def fraction_sum(rng):
    a, b = Fraction(1, rng.randint(3, 9)), Fraction(rng.randint(2, 7), 11)
    right = a + b
    prompt = f"Compute ${tex(a)} + {tex(b)}$."
    return prompt, tex(right), [tex(right), slash(right), tex(right).replace("frac", "dfrac")], [
        f"\\frac{{{a.numerator + b.numerator}}}{{{a.denominator + b.denominator}}}",
        tex(a * b), tex(right + 1)]


def mixed_number(rng):
    whole, part = rng.randint(2, 9), Fraction(rng.choice([1, 3]), 4)
    right = whole + part
    prompt = f"Write ${tex(right)}$ as a mixed number."
    return prompt, f"{whole}{tex(part)}", [
        f"{whole}{tex(part)}", f"{whole} {slash(part)}", f"{float(right)}", tex(right)], [
        f"{whole + 1}{tex(part)}", f"{part.numerator}{tex(Fraction(1, whole))}"]


def percentage(rng):
    part = rng.choice([12, 15, 35, 40, 62, 85])
    prompt = f"{part} of 100 seeds sprout. What percentage is that?"
    return prompt, f"{part}\\%", [
        f"{part}\\%", f"{part}%", f"{part} percent", f"{part / 100}", f"{part}"], [
        f"{100 - part}\\%", f"{part / 1000}", f"{part / 10}%"]


def money(rng):
    each, count = rng.randint(3, 40), rng.randint(3, 12)
    right = each * count
    prompt = f"A ticket costs ${each}. What do {count} tickets cost?"
    return prompt, f"\\${right}", [
        f"\\${right}", f"{right}", f"{right} dollars", f"\\${right}.00"], [
        f"\\${right + each}", f"{each + count} dollars", f"{right} cents"]


def distance(rng):
    speed, hours = rng.randint(4, 30) * 10, rng.choice([2, 3, 5])
    right = speed * hours
    prompt = f"A train runs at {speed} km/h for {hours} hours. How far does it go?"
    return prompt, f"{right}\\text{{ km}}", [
        f"{right}\\text{{ km}}", f"{right}", f"{right * 1000} m", f"{right} kilometers"], [
        f"{right} m", f"{speed // hours + 1}\\text{{ km}}", f"{right} hours"]


def area(rng):
    a, b = rng.randint(2, 19), rng.randint(20, 40)
    prompt = f"A rectangle is {a} cm by {b} cm. What is its area?"
    return prompt, f"{a * b}\\text{{ cm}}^2", [
        f"{a * b}\\text{{ cm}}^2", f"{a * b} square centimeters", f"{a * b} cm²", f"{a * b}"], [
        f"{2 * (a + b)}\\text{{ cm}}", f"{a * b}\\text{{ cm}}", f"{a * b + 1} cm^2"]


def surd(rng):
    factor, inside = rng.randint(2, 9), rng.choice([2, 3, 5, 7])
    square = factor * factor * inside
    prompt = f"Simplify $\\sqrt{{{square}}}$."
    return prompt, f"{factor}\\sqrt{{{inside}}}", [
        f"{factor}\\sqrt{{{inside}}}", f"\\sqrt{{{square}}}", f"{factor} \\cdot \\sqrt{inside}",
        f"{factor}√{inside}"], [
        f"{inside}\\sqrt{{{factor + inside}}}", f"{factor * inside}", f"{factor + 1}\\sqrt{{{inside}}}"]


def circle(rng):
    radius = rng.randint(2, 15)
    prompt = f"What is the area of a circle of radius {radius}?"
    return prompt, f"{radius ** 2}\\pi", [
        f"{radius ** 2}\\pi", f"\\pi \\cdot {radius}^2", f"{radius ** 2}π", f"\\pi({radius})^2"], [
        f"{2 * radius + radius ** 3}\\pi", f"{radius ** 2}", f"{radius ** 2 * 3.14:.2f}"]


def interval(rng):
    low, high = rng.randint(-9, 0), rng.randint(1, 9)
    prompt = f"Solve ${low} < x \\le {high}$ and give the interval."
    return prompt, f"({low},{high}]", [
        f"({low}, {high}]", f"\\left({low}, {high}\\right]", f"{low} < x \\le {high}",
        f"x \\in ({low},{high}]"], [
        f"({low}, {high})", f"[{low}, {high}]", f"({low}, {high + 1}]"]


def ray(rng):
    root = rng.randint(2, 9)
    prompt = f"For which real $x$ is $x^2 > {root * root}$?"
    return prompt, f"(-\\infty,-{root})\\cup({root},\\infty)", [
        f"(-\\infty, -{root}) \\cup ({root}, \\infty)", f"({root},\\infty)\\cup(-\\infty,-{root})",
        f"(-∞,-{root}) ∪ ({root},∞)"], [
        f"({root}, \\infty)", f"(-{root},{root})", f"(-\\infty,-{root}]\\cup[{root},\\infty)"]


def roots(rng):
    a, b = rng.randint(1, 6), rng.randint(7, 12)
    prompt = f"Find all roots of $x^2 - {a + b}x + {a * b}$."
    return prompt, f"\\{{{a},{b}\\}}", [
        f"\\{{{b}, {a}\\}}", f"{a}, {b}", f"x = {a} or x = {b}", f"{b} \\text{{ and }} {a}"], [
        f"\\{{-{a}, -{b}\\}}", f"{a}", f"{a}, {b}, {a + b}"]


def plus_minus(rng):
    root = rng.randint(3, 14)
    prompt = f"Solve $x^2 = {root * root}$."
    return prompt, f"x = \\pm {root}", [
        f"\\pm {root}", f"x = {root}, x = -{root}", f"\\{{-{root}, {root}\\}}", f"±{root}"], [
        f"{root}", f"-{root}", f"\\pm {root + 1}"]


def matrix(rng):
    a, b, c, d = (rng.randint(-5, 9) for _ in range(4))
    e = rng.randint(2, 5)
    body = f"{e * a} & {e * b} \\\\ {e * c} & {e * d}"
    prompt = f"Multiply $\\begin{{pmatrix}} {a} & {b} \\\\ {c} & {d} \\end{{pmatrix}}$ by {e}."
    return prompt, f"\\begin{{pmatrix}}{body}\\end{{pmatrix}}", [
        f"\\begin{{pmatrix}} {body} \\end{{pmatrix}}", f"\\begin{{bmatrix}}{body}\\end{{bmatrix}}",
        f"[[{e * a}, {e * b}], [{e * c}, {e * d}]]"], [
        f"\\begin{{pmatrix}} {e * a} & {b} \\\\ {c} & {e * d + 1} \\end{{pmatrix}}",
        f"\\begin{{pmatrix}} {e * a + 1} & {e * b} \\\\ {e * c} & {e * d} \\end{{pmatrix}}",
        f"{e * (a * d - b * c)}"]


def point(rng):
    x, y = rng.randint(1, 9), rng.randint(-9, -1)
    prompt = f"Two lines meet where $x + y = {x + y}$ and $x - y = {x - y}$. Where?"
    return prompt, f"({x}, {y})", [
        f"({x},{y})", f"\\left({x}, {y}\\right)", f"({x}.0, {y})"], [
        f"({y}, {x})", f"({x}, {-y})", f"({x}, {y}, 0)"]


def line(rng):
    slope, at = rng.randint(2, 9), rng.randint(1, 9)
    prompt = f"Which line has the slope {slope} and meets the $y$ axis at {at}?"
    return prompt, f"y = {slope}x + {at}", [
        f"y = {slope}x + {at}", f"y = {at} + {slope}x", f"{slope}x - y = -{at}", f"{slope}x+{at}"], [
        f"y = {slope}x - {at}", f"y = {slope + 10}x + {at}", f"x = {slope}y + {at}"]


def expansion(rng):
    a, b = rng.randint(2, 9), rng.randint(10, 19)
    prompt = f"Expand $(x + {a})(x + {b})$."
    return prompt, f"x^2 + {a + b}x + {a * b}", [
        f"x^2 + {a + b}x + {a * b}", f"{a * b} + {a + b} x + x^{{2}}", f"(x+{b})(x+{a})",
        f"x² + {a + b}x + {a * b}"], [
        f"x^2 + {a * b}", f"x^2 + {a * b}x + {a + b}", f"x^2 - {a + b}x + {a * b}"]


def scientific(rng):
    mantissa, power = rng.choice([12, 25, 37, 48]), rng.randint(5, 8)
    prompt = f"Write ${mantissa}{'0' * power}$ in scientific notation."
    return prompt, f"{mantissa / 10} \\times 10^{{{power + 1}}}", [
        f"{mantissa / 10} \\times 10^{{{power + 1}}}", f"{mantissa / 10}e{power + 1}",
        f"{mantissa / 10} \\cdot 10^{power + 1}"], [
        f"{mantissa / 10} \\times 10^{{{power}}}", f"{mantissa}e{power + 1}",
        f"{mantissa / 10} \\times 10^{{-{power + 1}}}"]


def choice(rng):
    options = [rng.randint(10, 99) for _ in range(4)]
    best = max(range(4), key=lambda at: options[at])
    letters = "ABCD"
    listed = " ".join(f"({letters[at]}) {options[at]}" for at in range(4))
    wrong = [letters[(best + step) % 4] for step in (1, 2, 3)]
    prompt = f"Which is the largest? {listed}"
    return prompt, letters[best], [
        letters[best], f"({letters[best]})", f"\\text{{{letters[best]}}}",
        f"\\textbf{{({letters[best]})}}"], [wrong[0], f"({wrong[1]})", f"\\text{{{wrong[2]}}}"]


def parity(rng):
    number = rng.randint(100, 999)
    right, wrong = ("Yes", "No") if number % 2 == 0 else ("No", "Yes")
    prompt = f"Is {number} even? Answer yes or no."
    return prompt, right.lower(), [right, right.lower(), f"\\text{{{right}}}"], [
        wrong, wrong.lower(), f"\\text{{{wrong}}}"]


def angle(rng):
    a, b = rng.randint(20, 80), rng.randint(20, 80)
    right = 180 - a - b
    prompt = f"Two angles of a triangle are ${a}^\\circ$ and ${b}^\\circ$. What is the third?"
    return prompt, f"{right}^\\circ", [
        f"{right}^\\circ", f"{right}°", f"{right} degrees", f"{right}"], [
        f"{right + 1}^\\circ", f"{a + b + 90}", f"{360 - a - b}^\\circ"]


TEMPLATES = [
    addition, fraction_sum, mixed_number, percentage, money, distance, area, surd, circle, interval,
    ray, roots, plus_minus, matrix, point, line, expansion, scientific, choice, parity, angle,
]

THOUGHTS = [
    "Let me work through this step by step.\n\n",
    "First I write down what is given.\n1. Read the question.\n2. Set up the terms.\n\n",
    "<think>That looks easy, but I check it twice: it holds.</think>\n",
    "We have 3 things to do here, in 2 steps.\n",
    "",
]

# How an answer is marked. Each takes the answer as mathematics.
MARKS = [
    lambda answer: f"So the answer is $\\boxed{{{answer}}}$.",
    lambda answer: f"\\[\n\\boxed{{{answer}}}\n\\]",
    lambda answer: f"At first one gets \\boxed{{-77}}, but correctly it is \\boxed{{ {answer} }}",
    lambda answer: f"#### {answer}",
    lambda answer: f"**Answer**: {answer}",
    lambda answer: f"**Final Answer:**\n\n${answer}$",
    lambda answer: f"The answer is ${answer}$.",
    lambda answer: f"Therefore the final answer is: {answer}.\nI hope that helps!",
    lambda answer: f"A: {answer}",
    lambda answer: f"and so we end with ${answer}$",
    lambda answer: f"which gives \\({answer}\\).",
]

# Responses that hold no answer, however near they come to one.
BROKEN = [
    lambda answer: f"The result is \\boxed{{{answer}",
    lambda answer: "I am not able to solve this.",
    lambda answer: "",
    lambda answer: f"It is \\boxed{{{answer}}}. No, wait: \\boxed{{",
    lambda answer: "Then we add the parts, and the sum of these is therefore",
    lambda answer: f"\\boxed{{{answer} + }}",
    lambda answer: f"\\boxed{{\\frac{{{answer}}}}}",
]


def rows(rng):
    question = 0
    for _ in range(ROUNDS):
        for template in TEMPLATES:
            prompt, label, right, wrong = template(rng)
            for sample, kind in enumerate(rng.sample(["right", "right", "wrong", "any"], 4)):
                if kind == "any":
                    kind = rng.choice(["right", "wrong", "broken", "broken"])
                answer = rng.choice(wrong if kind == "wrong" else right)
                mark = rng.choice(BROKEN if kind == "broken" else MARKS)
                # A thought holds numbers: behind it a broken response would end in a wrong answer.
                thought = rng.choice(THOUGHTS) if kind != "broken" else ""
                yield {
                    "key": f"math-{question:03}-{sample}",
                    "group": f"math-{question:03}",
                    "prompt": prompt,
                    "response": thought + mark(answer),
                    "label": label,
                    "expected": 1.0 if kind == "right" else 0.0,
                }
            question += 1


if __name__ == "__main__":
    for row in rows(random.Random(SEED)):
        print(json.dumps(row, ensure_ascii=False))
