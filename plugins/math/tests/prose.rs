//! Answers inside prose: which of its numbers, formulas and boxes count.

use crate::forms::check;

#[test]
fn boxes_before_a_result_are_steps() {
    let sum = r"Hence $x=\boxed{2}$, $y=\boxed{3}$, $x+y=\boxed{5}$.";
    let giving = r"Hence $a=\boxed{2}$ and $b=\boxed{3}$, giving $\boxed{5}$.";
    check(
        true,
        &[
            (sum, "5"),
            (giving, "5"),
            (r"$a=\boxed{2}$, $b=\boxed{3}$ and $a \cdot b = \boxed{6}$", "6"),
            (r"$x=\boxed{2}$, $y=\boxed{3}$", "2, 3"),
            (r"$x+y=\boxed{5}$ and $xy=\boxed{6}$", "5, 6"),
            (r"$f(-1)=\boxed{3}$ and $f(-2)=\boxed{4}$", "3, 4"),
            (r"$a_{n-1}=\boxed{3}$, $a_{n+1}=\boxed{4}$", "3, 4"),
        ],
    );
    check(false, &[(sum, "2, 3, 5"), (giving, "2, 3, 5")]);
}

#[test]
fn prose_after_a_mark_begins_with_its_value() {
    check(
        true,
        &[
            ("The answer is 5 miles (8 km).", "5"),
            ("The answer is 5 miles (8 km).", "5 miles"),
            ("The answer is 60 miles per hour (97 km/h).", "60"),
            ("The answer is 18 dollars for 9 eggs.", "18"),
            ("The answer is $18 for 9 eggs.", "18 dollars"),
            ("The answer is 18 dollars (9 * 2 = 18).", "18"),
            ("The answer is 1 1/2 cups of flour for 3 people.", "1.5"),
            ("The answer is 1,234 dollars (before 9% tax).", "1234"),
            (r"The answer is 30\% (3 out of 10).", r"30\%"),
            ("The answer is $5$ miles ($8$ km).", "5"),
            (r"The answer is \(5\) miles (\(8\) km).", "5"),
            ("The answer is $x = 5$ when $y = 3$.", "5"),
            ("The answer is 12, not 13.", "12"),
            // A sentence that begins with a step ends with the value.
            ("The answer is 2 times 9, which is 18.", "18"),
            ("The answer is 5 plus 3, so 8.", "8"),
            ("The answer is 50% of 30 = 15.", "15"),
            ("The answer is $n$ for $n = 7$.", "7"),
        ],
    );
    check(
        false,
        &[
            ("The answer is 5 miles (8 km).", "8"),
            ("The answer is 18 dollars for 9 eggs.", "9"),
            ("The answer is 3 out of 10.", "10"),
            ("The answer is $x = 5$ when $y = 3$.", "3"),
            ("The answer is 12, not 13.", "13"),
            ("The answer is 12 (or 13).", "12"),
            ("The answer is 12, 13 in total.", "12"),
            ("The answer is 12 if odd, 13 if even.", "12"),
        ],
    );
}

#[test]
fn special_tokens_at_the_end_are_not_read() {
    check(
        true,
        &[
            ("Answer: B<|im_end|>", "B"),
            ("Answer: B<|eot_id|><|end_of_text|>\n", "B"),
            ("Answer: B<｜end▁of▁sentence｜>", "B"),
            ("Answer: yes</s>", "yes"),
            ("Answer: 2x <eos>", "2x"),
            (r"so $x<|y|$", r"x<|y|"),
        ],
    );
}

#[test]
fn dollars_in_prose() {
    let responses = [
        "She spends $5 on apples and $13 on pears, for a total of $18.",
        "She earns $20 and spends $2, so she has $18 left.",
        "He pays $10 for x and $8 for y. He pays 18 dollars in total.",
        "Janet makes 9 * $2 = $18 every day.",
        "The answer is $18, since she sells 9 eggs at $2 each.",
        "The answer is 18 because she sells 9 eggs at 2 dollars each.",
        "It costs $5 and we get $x = 18$ here.",
        "We get $ x = 18 $ here.",
    ];
    check(true, &responses.map(|response| (response, "18")));
    check(false, &responses.map(|response| (response, "2")));
    check(false, &responses.map(|response| (response, "5")));
}

#[test]
fn bounds_state_no_value() {
    check(
        false,
        &[
            ("The answer is less than 18.", "18"),
            ("The answer is twice 18.", "18"),
            ("The answer is half of 18.", "18"),
            ("The answer is 2 less than 18", "18"),
            ("The answer is between 17 and 18.", "18"),
            ("The answer is around 17 to 18", "18"),
        ],
    );
    check(
        true,
        &[
            ("The answer is 42, which is more than 40.", "42"),
            ("The answer is more than 40, namely 42.", "42"),
            ("The answer is the sum of 40 and 2 = 42", "42"),
        ],
    );
}

#[test]
fn exclamations_and_suppositions() {
    check(
        true,
        &[
            ("I am confident that the answer is $42$!", "42"),
            (r"The answer is \(42\)!", "42"),
            ("The answer is 42!", "42"),
            ("The answer is 5!", "120"),
            ("The answer is $5!$", "120"),
            ("Suppose the answer is $7$; that fails. Hence $42$.", "42"),
            ("We check whether the answer is $7$. It is not, and so $42$.", "42"),
        ],
    );
    check(
        false,
        &[
            ("The answer is $5!$", "5"),
            ("The answer is 41!", "42"),
            ("Suppose that the answer is $42$; that fails. Hence $7$.", "42"),
            ("If the answer is $42$, then $x = 3$. Hence $7$.", "42"),
        ],
    );
}

#[test]
fn marks_of_choices_and_in_chinese() {
    check(
        true,
        &[
            ("The correct option is B.", "B"),
            ("The correct choice is **(B)**.", "B"),
            (r"\boxed{\text{Option B}}", "B"),
            ("Option B", "B"),
            ("B. 42", "B"),
            ("B. 42", "42"),
            ("(B) 42", "B"),
            (r"\boxed{A, C, D}", "ACD"),
            (r"\boxed{\text{A and C}}", "AC"),
            ("答案：B", "B"),
            ("所以答案是 **B**。", "B"),
            ("故选：B．", "B"),
            ("故选B。", "B"),
            (r"故答案为：$\frac{1}{2}$。", "0.5"),
            ("答案是18，因为9乘2。", "18"),
            ("答案是12元。", "12"),
            ("答案是 $x=2$ 或 $x=3$。", "2, 3"),
            ("答案是2或3。", "2, 3"),
        ],
    );
    check(
        false,
        &[
            ("The correct option is not C.", "C"),
            ("A. C", "C"),
            ("Option A or B", "A"),
            (r"\boxed{A, C}", "ACD"),
            (r"\boxed{A, C, D}", "AC"),
            ("答案：A，不是B", "B"),
            ("故选：A、C", "C"),
            ("答案：1/3，因为1/2", "1/2"),
            ("答案是12或13。", "13"),
        ],
    );
}
