"""Makes pairs of label and response in the style of the MATH data set, each labelled as right or wrong.

Every pair comes from a known value: a right response writes that value in another form, a wrong one writes a
value changed in one place. Nothing here asks a verifier. Standard library only; the same pairs on every run.
"""

import random
from fractions import Fraction

SEED = 20_260_402
ROUNDS = 36


def tex(value):
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def grouped(value, separator):
    return f"{value:,}".replace(",", separator)


# Each maker gives (kind, label, forms of the right answer, wrong answers).


def whole(rng):
    value = rng.randint(1_001, 9_999_999)
    return "numbers", str(value), [
        grouped(value, ","), grouped(value, "{,}"), grouped(value, "\\,"), grouped(value, ",\\! "),
        f"{value}.0", f"\\text{{total}} = {value}", f"{value}\\text{{ units}}", grouped(value, " ")], [
        str(value + 1), str(value * 10), f"-{value}", grouped(value + 1_000, ",")]


def fraction(rng):
    value = Fraction(rng.randint(1, 60), rng.choice([3, 7, 8, 9, 11, 12, 16]))
    if value.denominator == 1:
        value += Fraction(1, 7)
    over, under = value.numerator, value.denominator
    forms = [f"{over}/{under}", f"\\dfrac{{{over}}}{{{under}}}", f"\\frac{{{2 * over}}}{{{2 * under}}}",
             f"x = \\frac{{{over}}}{{{under}}}", f"\\\\frac{{{over}}}{{{under}}}"]
    if over > under:
        forms.append(f"{over // under}\\frac{{{over % under}}}{{{under}}}")
    if under in (8, 16):
        forms.append(str(float(value)))
    return "fractions", tex(value), forms, [
        tex(value + 1), f"\\frac{{{under}}}{{{over}}}", tex(-value), f"{over + under}/{under + 1}"]


def decimal(rng):
    value = Fraction(rng.randint(11, 9_999), rng.choice([10, 100, 1_000]))
    digits = f"{float(value):g}"
    return "decimals", digits, [f"{digits}0" if "." in digits else f"{digits}.0", tex(value), f"x \\approx {digits}"], [
        f"{float(value) + 0.5:g}", f"{float(value) * 10:g}", f"-{digits}"]


def percentage(rng):
    part = rng.randint(2, 99)
    return "percentages", f"{part}\\%", [f"{part}%", f"{part}", f"{part} \\%", f"{part}\\text{{ percent}}"], [
        f"{part + 1}\\%", f"{part}0\\%", f"0.00{part}"]


def surd(rng):
    factor, inside = rng.randint(2, 12), rng.choice([2, 3, 5, 6, 7, 10])
    square = factor * factor * inside
    return "roots", f"{factor}\\sqrt{{{inside}}}", [
        f"\\sqrt{{{square}}}", f"{factor} \\cdot \\sqrt{inside if inside < 10 else '{10}'}",
        f"\\frac{{{factor * inside}}}{{\\sqrt{{{inside}}}}}", f"{factor}\\cdot {inside}^{{1/2}}"], [
        f"{factor + 1}\\sqrt{{{inside}}}", f"{inside}\\sqrt{{{factor * 7}}}", f"\\sqrt{{{square + 1}}}", f"{square}"]


def circle(rng):
    radius = rng.randint(2, 20)
    return "constants", f"{radius ** 2}\\pi", [
        f"\\pi \\cdot {radius}^2", f"{2 * radius ** 2}\\cdot\\frac{{\\pi}}{{2}}", f"\\pi({radius ** 2})"], [
        f"{radius ** 2 + 1}\\pi", f"{radius ** 2}", f"{radius}\\pi"]


def polynomial(rng):
    a, b = rng.randint(2, 9), rng.randint(10, 19)
    return "algebra", f"x^2 + {a + b}x + {a * b}", [
        f"(x + {a})(x + {b})", f"{a * b} + {a + b}x + x^2", f"x(x + {a + b}) + {a * b}", f"f(x) = x^2 + {a + b}x + {a * b}"], [
        f"x^2 + {a + b}x - {a * b}", f"(x - {a})(x - {b})", f"x^2 + {a + b}x", f"x^2 + {a * b}x + {a + b}"]


def rational(rng):
    a, b = rng.randint(2, 9), rng.randint(2, 9)
    return "algebra", f"\\frac{{x + {a}}}{{{b}}}", [
        f"\\frac{{x}}{{{b}}} + \\frac{{{a}}}{{{b}}}", f"\\frac{{2x + {2 * a}}}{{{2 * b}}}", f"\\frac{{1}}{{{b}}}(x + {a})"], [
        f"\\frac{{x - {a}}}{{{b}}}", f"\\frac{{x}}{{{b}}} + {a}", f"\\frac{{x + {a}}}{{{b + 1}}}"]


def interval(rng):
    low, high = rng.randint(-9, 0), rng.randint(1, 9)
    return "intervals", f"({low},{high}]", [
        f"\\left({low}, {high}\\right]", f"x \\in ({low},{high}]", f"{low} < x \\le {high}", f"{high} \\ge x > {low}"], [
        f"({low},{high})", f"[{low},{high}]", f"({low},{high + 1}]", f"{low} \\le x < {high}"]


def inequality(rng):
    bound, factor = rng.randint(-9, 9), rng.randint(2, 5)
    return "inequalities", f"x \\ge {bound}", [
        f"x \\geq {bound}", f"{bound} \\le x", f"[{bound}, \\infty)", f"-x \\le {-bound}"], [
        f"x > {bound}", f"x \\le {bound}", f"x \\ge {bound + factor}", f"({bound}, \\infty)"]


def roots(rng):
    a, b = rng.randint(-9, 0), rng.randint(1, 9)
    return "sets", f"{a}, {b}", [
        f"\\{{{b}, {a}\\}}", f"{b}, {a}", f"x = {a} \\text{{ or }} x = {b}", f"{a} \\text{{ and }} {b}"], [
        f"{a}", f"{a}, {b + 1}", f"{-a - 1}, {b}", f"{a}, {b}, {b + 1}"]


def plus_minus(rng):
    root = rng.randint(2, 19)
    return "sets", f"\\pm {root}", [f"\\{{-{root}, {root}\\}}", f"{root}, -{root}", f"x = \\pm {root}"], [
        f"{root}", f"-{root}", f"\\pm {root + 1}"]


def point(rng):
    x, y = rng.randint(1, 9), rng.randint(-9, -1)
    return "points", f"({x}, {y})", [
        f"\\left({x}, {y}\\right)", f"(x, y) = ({x}, {y})", f"\\left(\\frac{{{2 * x}}}{{2}}, {y}\\right)", f"({x}.0,{y})"], [
        f"({y}, {x})", f"({x}, {-y})", f"({x}, {y}, 0)", f"({x + 1}, {y})"]


def matrix(rng):
    a, b, c, d = (rng.randint(-5, 9) for _ in range(4))
    cells = f"{a} & {b} \\\\ {c} & {d}"
    return "matrices", f"\\begin{{pmatrix}} {cells} \\end{{pmatrix}}", [
        f"\\begin{{bmatrix}} {cells} \\end{{bmatrix}}", f"\\begin{{pmatrix}}{cells}\\end{{pmatrix}}",
        f"\\begin{{pmatrix}} \\frac{{{2 * a}}}{{2}} & {b} \\\\ {c} & {d} \\end{{pmatrix}}"], [
        f"\\begin{{pmatrix}} {a + 1} & {b} \\\\ {c} & {d} \\end{{pmatrix}}",
        f"\\begin{{pmatrix}} {a} & {b} & {c} & {d} \\end{{pmatrix}}", f"{a * d - b * c}"]


def line(rng):
    slope, at = rng.randint(2, 9), rng.randint(1, 9)
    return "equations", f"y = {slope}x + {at}", [
        f"y = {at} + {slope}x", f"{slope}x - y = -{at}", f"{slope}x - y + {at} = 0"], [
        f"y = {slope}x - {at}", f"y = {slope + 1}x + {at}", f"x = {slope}y + {at}"]


def measured(rng):
    value = rng.randint(2, 400)
    return "units", f"{value}\\text{{ cm}}", [
        f"{value}", f"{value} \\text{{ cm}}", f"{value}\\mbox{{ cm}}", f"{value}\\,\\mathrm{{cm}}"], [
        f"{value + 1}\\text{{ cm}}", f"{value * 10}\\text{{ cm}}", f"{value}0"]


def angle(rng):
    value = rng.randint(5, 175)
    return "units", f"{value}^\\circ", [f"{value}", f"{value}^{{\\circ}}", f"{value}\\text{{ degrees}}"], [
        f"{value + 1}^\\circ", f"{180 - value + 1000}"]


def base(rng):
    value, radix = rng.randint(20, 400), rng.choice([2, 3, 5])
    digits, rest = "", value
    while rest:
        digits, rest = str(rest % radix) + digits, rest // radix
    other = digits[:-1] + str((int(digits[-1]) + 1) % radix)
    return "bases", f"{digits}_{radix}", [f"{digits}_{{{radix}}}", f"{digits}_{radix}"], [
        f"{other}_{radix}", f"{digits}_{radix + 4}"]


def scientific(rng):
    mantissa, power = rng.choice([12, 25, 37, 48]), rng.randint(4, 9)
    return "numbers", f"{mantissa / 10} \\times 10^{{{power}}}", [
        f"{mantissa / 10} \\cdot 10^{power}", f"{mantissa * 10 ** (power - 1)}"], [
        f"{mantissa / 10} \\times 10^{{{power + 1}}}", f"{mantissa} \\times 10^{{{power}}}"]


def words(rng):
    names = ["Evelyn", "odd", "parallelogram", "Monday", "hyperbola", "neither", "Alice"]
    right, wrong = rng.sample(names, 2)
    return "words", f"\\text{{{right}}}", [f"\\text{{{right}}}", f"\\textbf{{{right}}}", right], [f"\\text{{{wrong}}}"]


def choice(rng):
    right, wrong = rng.sample("ABCDE", 2)
    return "words", f"\\text{{({right})}}", [f"\\text{{({right})}}", right, f"({right})", f"\\textbf{{({right})}}"], [
        f"\\text{{({wrong})}}", wrong]


MAKERS = [
    whole, fraction, decimal, percentage, surd, circle, polynomial, rational, interval, inequality, roots,
    plus_minus, point, matrix, line, measured, angle, base, scientific, words, choice,
]

# Each takes the answer as mathematics.
MARKS = [
    lambda answer: f"Thus the result is $\\boxed{{{answer}}}$.",
    lambda answer: f"\\[\n\\boxed{{{answer}}}\n\\]",
    lambda answer: f"Step 1 gives $7$. Step 2 gives $11$. Therefore, $\\boxed{{{answer}}}$ is what was asked.",
    lambda answer: f"Final Answer: The final answer is ${answer}$. I hope it is correct.",
    lambda answer: f"Putting both together we find that it is ${answer}$.",
]


def pairs():
    rng = random.Random(SEED)
    for _ in range(ROUNDS):
        for maker in MAKERS:
            kind, label, right, wrong = maker(rng)
            for correct, answers in ((True, right), (False, wrong)):
                for answer in rng.sample(answers, min(2, len(answers))):
                    yield {
                        "kind": kind,
                        "label": f"${label}$",
                        "response": rng.choice(MARKS)(answer),
                        "expected": correct,
                    }
