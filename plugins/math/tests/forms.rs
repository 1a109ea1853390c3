//! Answers in the forms in which models and data sets write them, each with the verdict it must get. The text
//! is the whole response, so that finding the answer is tested too.

use assay_plugin_math::{Label, Settings, Verdict, verify};

fn verdict(response: &str, label: &str) -> Verdict {
    let label = Label::read(label).unwrap_or_else(|error| panic!("label {label}: {error:?}"));
    verify(response, &[label], &Settings::default()).verdict
}

/// Checks (response, label) pairs and reports all that are judged otherwise.
pub(crate) fn check(correct: bool, pairs: &[(&str, &str)]) {
    let failed: Vec<_> = pairs
        .iter()
        .map(|(response, label)| (response, label, verdict(response, label)))
        .filter(|(_, _, verdict)| verdict.is_correct() != correct)
        .map(|(response, label, verdict)| format!("{response:?} for {label:?}: {verdict:?}"))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn latex_outside_delimiters() {
    check(
        true,
        &[
            (r"\frac{7}{3}", "7/3"),
            (r"So we end with \frac{7}{3}.", "7/3"),
            (r"and so x = -\dfrac{11}{4}", r"-\frac{11}{4}"),
            (r"The total comes to 2\sqrt{5} in the end", r"\sqrt{20}"),
            (r"It lies at (3, -\frac{1}{2}).", "(3,-0.5)"),
        ],
    );
    check(
        false,
        &[(r"\frac{7}{3}", "3"), (r"So we end with \frac{7}{3}.", "7"), (r"2\sqrt{5}", "5")],
    );
}

#[test]
fn numbers_of_several_countries() {
    check(
        true,
        &[
            (".75", "3/4"),
            ("it is .5", "0.5"),
            (r"\boxed{12 500}", "12500"),
            ("1 250,75", "1250.75"),
            (r"\boxed{1.250,75}", "1250.75"),
            (r"$\boxed{4,\! 300}$", "4300"),
            (r"$\boxed{4\!300}$", "4300"),
            (r"\boxed{7{,}425{,}000}", "7425000"),
            ("Answer: 3,75", "3.75"),
            ("Answer: 1.75", "1,75"),
            ("#### 0,125", "1/8"),
            ("\u{ff11}\u{ff12}\u{ff0e}\u{ff15}", "12.5"),
            (r"\boxed{0.\overline{3}}", r"\frac{1}{3}"),
            (r"\boxed{0.1\overline{6}}", r"\frac{1}{6}"),
            (r"\boxed{6.02 \times 10^{23}}", "6.02e23"),
            ("Answer: 1.5 x 10^4", "15000"),
            (r"\boxed{21^{\text{st}}}", "21"),
            (r"\boxed{2 \frac{3}{4}}", "2.75"),
            ("Answer: 2 3/4", "11/4"),
            ("Answer: 2½", "2.5"),
            ("So she needs 1 1/2 cups of flour.", "1.5"),
            ("So she needs 1 1/2 cups of flour.", "3/2"),
            ("In group 2 she has 10/4.", "5/2"),
        ],
    );
    check(
        false,
        &[
            (".75", "75"),
            (r"\boxed{32, 349}", "32349"),
            (r"\boxed{12 50}", "1250"),
            ("Answer: 3,75", "375"),
            ("Answer: 3,75", "3.57"),
            (r"\boxed{3,75}", r"\{75, 4\}"),
            (r"\boxed{0.\overline{3}}", "0.3"),
            ("Answer: 2 3/4", "23/4"),
            ("So she needs 1 1/2 cups of flour.", "1/2"),
            ("Answer: 23/4", "2 3/4"),
        ],
    );
}

#[test]
fn bases() {
    check(
        true,
        &[
            (r"\boxed{1011_2}", "1011_2"),
            (r"\boxed{1011_2}", "11"),
            (r"\boxed{1011_{2}}", r"1011_{\text{two}}"),
            (r"\boxed{(204)_5}", "204_{5}"),
            (r"\boxed{2A_{16}}", "42"),
        ],
    );
    check(
        false,
        &[
            (r"\boxed{1011_2}", "1011"),
            (r"\boxed{1010_2}", "1011_2"),
            (r"\boxed{1011_3}", "1011_2"),
            (r"\boxed{1021_2}", "1011_2"),
        ],
    );
}

#[test]
fn inequalities() {
    check(
        true,
        &[
            (r"\boxed{x \ge 4}", "x >= 4"),
            (r"\boxed{4 \le x}", r"x \geq 4"),
            (r"\boxed{-x \le -4}", r"x \geq 4"),
            (r"\boxed{2x < 9}", r"(-\infty, 4.5)"),
            (r"\boxed{x \ne 3}", "x != 3"),
            (r"\boxed{x \neq 3}", r"(-\infty,3) \cup (3,\infty)"),
            (r"\boxed{\mathbb{R} \setminus \{3\}}", r"x \ne 3"),
            (r"\boxed{3 \ne x}", "x ≠ 3"),
            (r"\boxed{-1 < x \le 6}", "(-1, 6]"),
            (r"\boxed{6 \ge x > -1}", "(-1, 6]"),
            (r"\boxed{|x| < 2}", "(-2, 2)"),
            (r"\boxed{2 \le |x| \le 5}", r"[-5,-2] \cup [2,5]"),
            (r"\boxed{x < -1 \text{ or } x > 4}", r"(-\infty,-1) \cup (4,\infty)"),
            (r"\boxed{2x + 3y < 6}", "-4x - 6y > -12"),
            (r"\boxed{\{x \mid x > 2\}}", r"(2,\infty)"),
            (r"\boxed{f(1) < f(3) < f(2)}", "f(1)<f(3)<f(2)"),
            (r"\boxed{b > a}", "a<b"),
            (r"\boxed{x > a}", r"(a, \infty)"),
            (r"\boxed{\text{all real numbers}}", r"(-\infty,\infty)"),
            (r"\boxed{\mathbb{R}}", r"(-\infty,\infty)"),
        ],
    );
    check(
        false,
        &[
            (r"\boxed{x > 4}", r"x \geq 4"),
            (r"\boxed{x \le 4}", r"x \geq 4"),
            (r"\boxed{-x \ge -4}", r"x \geq 4"),
            (r"\boxed{x = 3}", r"x \ne 3"),
            (r"\boxed{x \ne 4}", r"x \ne 3"),
            (r"\boxed{2x + 3y < 6}", "4x + 6y > 12"),
            (r"\boxed{f(1) < f(2) < f(3)}", "f(1)<f(3)<f(2)"),
            (r"\boxed{f(1) < f(3)}", "f(1)<f(2)"),
            (r"\boxed{a < c}", "a<b"),
            (r"\boxed{b < a}", "a<b"),
            (r"\boxed{x < -1 \text{ or } x > 4}", "(-1, 4)"),
            (r"\boxed{|x| < 2}", r"(-\infty, 2)"),
        ],
    );
}

#[test]
fn chains_and_names() {
    check(
        true,
        &[
            (r"\boxed{x = \frac{1}{3} \approx 0.33}", "1/3"),
            (r"\boxed{x = \frac{70}{9} \approx 7.78}", "7.78"),
            (r"\boxed{x \approx 7.78}", "7.78"),
            (r"\boxed{\frac{2}{3} \approx 0.67}", "0.67"),
            (r"\boxed{\frac13 \approx 0.33}", "0.33"),
            (r"\boxed{2.46 \approx 2.5}", "2.5"),
            (r"\boxed{x = 70.6 \approx 71}", "71"),
            (r"\boxed{\frac{10^7}{3} \approx 3.33 \times 10^6}", "3330000"),
            (r"\boxed{5 = x}", "5"),
            (r"\boxed{f^{-1}(x) = \frac{x-3}{2}}", r"\frac{x-3}{2}"),
            (r"\boxed{q(x) = x^2+1}", "x^2+1"),
            (r"\boxed{v(t) = 3t}", "3t"),
            (r"\boxed{\phi(10) = 4}", "4"),
            (r"\boxed{m\angle ABC = 40^\circ}", r"40^\circ"),
            (r"\boxed{\frac{dy}{dx} = 2x}", "2x"),
            (r"\boxed{\sin 2\theta = \frac{24}{25}}", "24/25"),
            (r"\boxed{\cos(A+B) = \frac12}", "1/2"),
            (r"\boxed{A = 3 \cdot 4 = 12}", "12"),
            (r"\boxed{f(x) = 3x + 1}", "3x+1"),
            (r"\boxed{f(2) = 7}", "7"),
            (r"\boxed{P(A) = \frac{1}{6}}", "1/6"),
            (r"\boxed{\angle ABC = 40^\circ}", r"40^\circ"),
            (r"\boxed{|AB| = 13}", "13"),
            (r"\boxed{\frac{AO}{OC} = \frac{2}{3}}", "2/3"),
            (r"\boxed{(x, y) = (2, -3)}", "(2,-3)"),
            (r"\boxed{x = 2, y = -3}", "(2,-3)"),
            (r"\boxed{\begin{cases} x = 2 \\ y = -3 \end{cases}}", "x=2, y=-3"),
            (r"\boxed{x_1 = 4, x_2 = -1}", "-1, 4"),
            (r"\boxed{a_{10} = 55}", "55"),
            (r"\boxed{\text{Area of the square} = 49}", "49"),
            (r"Final Answer: The largest $k$ is 12.", "12"),
            ("There are 12 ways. In all, the number of $n$-tuples is $12$.", "12"),
            ("The area of triangle $ABC$ is 24 square units.", "24"),
        ],
    );
    check(
        false,
        &[
            (r"\boxed{x = \frac{1}{3} \approx 5}", "5"),
            (r"\boxed{x = \frac{70}{9} \approx 7.9}", "7.9"),
            (r"\boxed{x = 2, y = -3}", "(-3,2)"),
            (r"\boxed{-3, 2}", "x=2, y=-3"),
            (r"\boxed{7 = 11a + c}", "11a+c"),
            (r"\boxed{2x + z = 1}", "1"),
            (r"\boxed{a^2 + b = 0}", "0"),
            (r"\boxed{k(x+1) = 3}", "3"),
            (r"\boxed{y = 5}", "x = 5"),
        ],
    );
}

#[test]
fn matrices() {
    let product = r"\boxed{\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \begin{pmatrix} 0 & 1 \\ 1 & 0 \end{pmatrix}}";
    let label = r"\begin{bmatrix} 2 & 1 \\ 4 & 3 \end{bmatrix}";
    check(
        true,
        &[
            (product, label),
            (
                r"\boxed{\begin{pmatrix} 0.5 \\ 0.25 \end{pmatrix}}",
                r"\begin{pmatrix} \frac12 \\ \frac14 \end{pmatrix}",
            ),
            (r"\boxed{\frac{1}{2}\begin{pmatrix} 4 & 2 \\ 8 & 6 \end{pmatrix}}", label),
            (
                r"\boxed{\begin{pmatrix} 1 & 1 \\ 1 & 1 \end{pmatrix} + \begin{pmatrix} 1 & 0 \\ 3 & 2 \end{pmatrix}}",
                label,
            ),
            (r"\boxed{\begin{pmatrix} 3 \\ 4 \end{pmatrix}}", "(3, 4)"),
            (r"\\boxed{\\begin{pmatrix} 2 & 1 \\\\ 4 & 3 \\end{pmatrix}}", label),
            (r"\boxed{\begin{vmatrix} 1 & 2 \\ 3 & 4 \end{vmatrix}}", "-2"),
        ],
    );
    check(
        false,
        &[
            (product, r"\begin{pmatrix} 3 & 4 \\ 1 & 2 \end{pmatrix}"),
            (
                r"\boxed{\begin{pmatrix} 0.5 \\ 0.26 \end{pmatrix}}",
                r"\begin{pmatrix} \frac12 \\ \frac14 \end{pmatrix}",
            ),
            (
                r"\boxed{\begin{pmatrix} 3 & 4 \end{pmatrix}}",
                r"\begin{pmatrix} 3 \\ 4 \end{pmatrix}",
            ),
            (r"\boxed{\begin{pmatrix} 4 \\ 3 \end{pmatrix}}", "(3, 4)"),
        ],
    );
}

#[test]
fn texts_and_escapes() {
    check(
        true,
        &[
            (r"\boxed{80\textnormal{ miles}}", "80"),
            (r"\boxed{80\mbox{ miles}}", r"80\text{ miles}"),
            (r"\boxed{\operatorname{lcm}}", r"\text{lcm}"),
            (r"\\boxed{\\frac{5}{6}}", r"\frac{5}{6}"),
            (r"\boxed{\\pi\\;}", r"\\pi\\;"),
            (r"\boxed{\\{1, \\pi\\}}", r"\\{1, \\pi\\}"),
            (r"\fbox{\\{1, \\pi\\}}", r"\boxed{\\{\\pi, 1\\}}"),
            (r"\boxed{\left( \frac{4}{3}, 1 \right)}", r"$\\left( \\frac{4}{3}, 1 \\right)$"),
            (r"\boxed{\textbf{(C)}}", "C"),
            (r"\boxed{\mathrm{Evelyn}}", r"\text{Evelyn}"),
            (r"**$\boxed{17}$**", "17"),
            (r"\boxed{½. ½½½½ A: 2}", "½. ½½½½ A: 2"),
            (r"\boxed{ \displaystyle \frac{3}{4} }", "0.75"),
        ],
    );
    check(
        false,
        &[(r"\\boxed{\\frac{5}{6}}", r"\frac{6}{5}"), (r"\boxed{\text{Eve}}", r"\text{Evelyn}")],
    );
}

#[test]
fn several_boxes_and_formulas() {
    check(
        true,
        &[
            (r"$\boxed{2}$ and $\boxed{5}$", "2, 5"),
            (r"\boxed{2}, \boxed{5}, \boxed{7}", r"\{2,5,7\}"),
            (r"\[ \boxed{(1, 2)} \quad \text{and} \quad \boxed{(2, 1)} \]", "(1,2), (2,1)"),
            (r"\boxed{3} cats and \boxed{4} dogs", "3, 4"),
            (r"First \boxed{4}. Checking again, the result is \boxed{5}.", "5"),
            ("The roots are $1$ and $6$.", "1,6"),
            ("So x = 2 or x = 3.", "2, 3"),
            ("The roots are 2 and 3.", "2, 3"),
        ],
    );
    check(
        false,
        &[
            (r"$\boxed{2}$ and $\boxed{5}$", "5"),
            (r"First \boxed{4}. Checking again, the result is \boxed{5}.", "4"),
            ("It is $1$ or $6$.", "6"),
        ],
    );
}

#[test]
fn tags_and_last_words() {
    check(
        true,
        &[
            (r"<think>a</think><answer>\frac{1}{2}</answer>", "1/2"),
            ("<think>a</think>\n<answer> B </answer>", "B"),
            (r"<think>so it is \boxed{12}", "12"),
            (r"<answer>so \boxed{7}</answer>", "7"),
            ("<answer>It is $7$ in all.</answer>", "7"),
            ("Put it in <answer></answer>: it is $7$", "7"),
            (
                r"Hence $\boxed{204}$. The final answer is an integer between 0 and 999, as required.",
                "204",
            ),
            (
                r"So it is \boxed{\text{Evelyn}}. I checked that the final answer is correct.",
                "Evelyn",
            ),
            (r"It was \boxed{3}. The final answer is $4$.", "4"),
            (r"It was \boxed{12}. The final answer is option (B).", "B"),
            // Remarks on an answer are none.
            ("Answer: 18\nI hope this answer is helpful.", "18"),
            ("Solving gives $x = 5$. I checked that this answer is correct.", "5"),
            ("The answer is 12. This answer is correct. Now the answer is 13.", "13"),
            (r"\boxed{3}. The final answer is $4$. I see that the final answer is correct.", "4"),
            ("The answer is correct.", "correct"),
            ("It is 3. The answer is correct to two places: 3.14", "3.14"),
            ("The answer is B, because the others are wrong.", "B"),
            // `A:` is a mark at the start of a line alone.
            ("Plan A: 10 * $5 = $50. Plan B: 8 * $5 = $40. She saves $10.", "10"),
            ("Vitamin A: 3 mg. So it is 5.", "5"),
            ("Q: how many?\n> **A:** 5 apples", "5"),
        ],
    );
    check(
        false,
        &[
            (
                r"Hence $\boxed{204}$. The final answer is an integer between 0 and 999, as required.",
                "999",
            ),
            (r"It was \boxed{3}. The final answer is $4$.", "3"),
            ("The answer is 12. This answer is correct. Now the answer is 13.", "12"),
            ("Answer: 12. The answer is not 12.", "12"),
        ],
    );
}

#[test]
fn powers_and_units() {
    check(
        true,
        &[
            (r"\boxed{x^{2/3}}", r"\sqrt[3]{x^2}"),
            (r"\boxed{\frac{1}{3x^{2/3}}}", r"\frac{1}{3\sqrt[3]{x}^2}"),
            (r"\boxed{2^{1/2}}", r"\sqrt 2"),
            (r"\boxed{8^{\frac{2}{3}}}", "4"),
            (r"\boxed{10^{\frac{\sqrt{13}-5}{6}}}", r"10^{-\frac{5-\sqrt{13}}{6}}"),
            (r"\boxed{\tan 45^\circ}", "1"),
            (r"\boxed{15 \text{ cm}^2}", r"15\mbox{ cm}^2"),
            (r"\boxed{15ft^2}", "15"),
            (r"\boxed{15ft^{2}}", r"15\text{ ft}^2"),
            (r"\boxed{15kg m/s}", "15"),
            (r"\boxed{\$15/hour}", "15"),
            (r"\boxed{15/\text{hour}}", "15"),
            (r"\boxed{\$15/hr}", r"15\text{ dollars per hour}"),
            (r"\boxed{15 \text{ dollars}}", r"\$15 \text{ dollars}"),
            (r"\boxed{25^\circ}", "25°"),
            (r"\boxed{¥500}", "500"),
            (r"\boxed{\$1{,}200}", "1200 dollars"),
            (r"\boxed{x² + 2·x − 3 ≤ 0}", r"x^2+2x-3 \le 0"),
            (r"\boxed{π ÷ 2}", r"\frac{\pi}{2}"),
            (r"\boxed{3×10⁴}", "30000"),
            (r"\boxed{√2 ÷ 2}", r"\frac{\sqrt2}{2}"),
        ],
    );
    check(
        false,
        &[
            (r"\boxed{x^{3/2}}", r"\sqrt[3]{x^2}"),
            (r"\boxed{15 \text{ cm}^2}", r"15\text{ cm}^3"),
            (r"\boxed{15ml^2}", "15"),
            (r"\boxed{\$15/hour}", r"\$15"),
            (r"\boxed{\$15/hour}", r"15\text{ euros per hour}"),
            (r"\boxed{15/\text{hour}\cdot x}", "15"),
            (r"\boxed{15/\text{cow}}", "15"),
            (r"\boxed{25^\circ}", "26°"),
            (r"\boxed{3×10⁵}", "30000"),
        ],
    );
}

#[test]
fn dates_times_and_ratios() {
    check(
        true,
        &[
            (r"\boxed{\text{May 5, 2020}}", "5 May 2020"),
            ("Answer: 2020-05-05", "May 5, 2020"),
            (r"\boxed{3:30 \text{ PM}}", "3:30 p.m."),
            (r"\boxed{15:30}", "3:30 PM"),
            (r"\boxed{2:3}", "4:6"),
            (r"\boxed{7 : 32}", "S_{1}:S=7:32"),
            (r"\boxed{\frac{2}{3}}", "2:3"),
            (r"\boxed{3:4:5}", "3 : 4 : 5"),
        ],
    );
    check(
        false,
        &[
            (r"\boxed{\text{May 6, 2020}}", "5 May 2020"),
            (r"\boxed{3:30 \text{ AM}}", "3:30 PM"),
            (r"\boxed{12:00}", "1:00"),
            (r"\boxed{2:3}", "3:2"),
            (r"\boxed{3:4:6}", "3:4:5"),
            ("Answer: 2020-05-05", "2010"),
        ],
    );
}
