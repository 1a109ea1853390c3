//! Lists and what stands beside their members: names, conditions, signs, commas. The text is the whole response.

use assay_plugin_math::{Label, Settings, Verdict, verify};

fn verdict(response: &str, label: &str) -> Verdict {
    let label = Label::read(label).unwrap_or_else(|error| panic!("label {label}: {error:?}"));
    verify(response, &[label], &Settings::default()).verdict
}

/// Checks (label, content of the box) pairs and reports all that are judged otherwise.
fn check(correct: bool, pairs: &[(&str, &str)]) {
    let failed: Vec<_> = pairs
        .iter()
        .map(|(label, answer)| (label, answer, verdict(&format!("\\boxed{{{answer}}}"), label)))
        .filter(|(_, _, verdict)| verdict.is_correct() != correct)
        .map(|(label, answer, verdict)| format!("{answer:?} for {label:?}: {verdict:?}"))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_set_after_more_than_a_name_is_not_the_answer() {
    check(
        true,
        &[
            (r"f(x) = x \text{ for all } x \in \mathbb{R}", "f(x)=x"),
            ("f(x) = x", r"f(x)=x \text{ for all } x \in \mathbb{R}"),
            (
                r"f(x) = x \text{ for all } x \in \mathbb{R}",
                r"f(x)=x \text{ for all } x\in\mathbb{R}",
            ),
            (r"f(x) = x \text{ for all real numbers } x", "f(x)=x"),
            (r"a_n = n \text{ for all } n \in \mathbb{N}", "a_n=n"),
            (r"\{2k+1 : k \in \mathbb{Z}\}", r"\{2k+1 : k\in\mathbb{Z}\}"),
            (r"x \in (1,2)", "(1,2)"),
            (r"(x,y) \in \{(1,2),(2,1)\}", "(1,2),(2,1)"),
            (r"\mathbb{Z}", r"x \in \mathbb{Z}"),
            (r"\{x \in \mathbb{R} : x > 2\}", "x>2"),
        ],
    );
    check(
        false,
        &[
            (
                r"f(x) = x \text{ for all } x \in \mathbb{R}",
                r"f(x)=x^2 \text{ for all } x \in \mathbb{R}",
            ),
            (r"f(x) = x \text{ for all } x \in \mathbb{R}", r"\mathbb{R}"),
            (
                r"a_n = n \text{ for all } n \in \mathbb{N}",
                r"a_n = n^2 \text{ for all } n \in \mathbb{N}",
            ),
            (r"\{2k+1 : k \in \mathbb{Z}\}", r"\{3k : k\in\mathbb{Z}\}"),
            (r"\{2k+1 : k \in \mathbb{Z}\}", r"\mathbb{Z}"),
            (r"2x \in (1,2)", r"x\in(1,2)"),
            (r"x = 1 \in \mathbb{N}", r"\mathbb{N}"),
        ],
    );
}

#[test]
fn members_keep_their_names() {
    check(
        true,
        &[
            ("a > 0, b < 0", "b < 0, a > 0"),
            ("a > 0, b < 0", r"a \in (0,\infty), b \in (-\infty,0)"),
            ("x = 2, y > 3", "y > 3, x = 2"),
            (r"\begin{cases} x > 2 \\ y < 3 \end{cases}", "x>2, y<3"),
            (r"x < 1 \text{ or } y > 3", r"y > 3 \text{ or } x < 1"),
            ("2x < 4, 2y < 6", "x < 2, y < 3"),
            (r"\text{Alice} = 3, \text{Bob} = 5", r"\text{Bob} = 5, \text{Alice} = 3"),
            (r"\text{Alice} = 3, \text{Bob} = 5", "3, 5"),
            // Other names for the same, in the same order.
            (r"\text{Length} = 5, \text{Width} = 3", "l = 5, w = 3"),
            (
                r"\text{Length} = 5, \text{Width} = 3",
                r"\text{The length} = 5, \text{the width} = 3",
            ),
            // One name says no more than none.
            ("x > 2", "y > 2"),
            ("x < 1, x > 3", "x>3, x<1"),
            (r"\text{Area} = 5", "5"),
        ],
    );
    check(
        false,
        &[
            ("a > 0, b < 0", "a < 0, b > 0"),
            ("a > 0, b < 0", r"(-\infty,0), (0,\infty)"),
            ("x > 2, y < 3", "y > 2, x < 3"),
            ("x = 2, y > 3", "y = 2, x > 3"),
            (r"x \in [0,1], y \in [2,3]", r"y \in [0,1], x \in [2,3]"),
            (r"x < 1 \text{ or } y > 3", r"y < 1 \text{ or } x > 3"),
            (r"a \ne 1, b \ne 2", r"b \ne 1, a \ne 2"),
            ("|x| < 2, |y| < 3", "|x|<3, |y|<2"),
            (
                r"\begin{cases} x > 2 \\ y < 3 \end{cases}",
                r"\begin{cases} y > 2 \\ x < 3 \end{cases}",
            ),
            (r"\text{Alice} = 3, \text{Bob} = 5", r"\text{Alice} = 5, \text{Bob} = 3"),
            (r"\text{Alice} = 3, \text{Bob} = 5", "5, 3"),
            (
                r"\text{Point A} = (1,2), \text{Point B} = (3,4)",
                r"\text{Point A} = (3,4), \text{Point B} = (1,2)",
            ),
        ],
    );
}

#[test]
fn every_combination_of_signs_is_a_value() {
    let roots = r"\sqrt{3+\sqrt5}, -\sqrt{3+\sqrt5}, \sqrt{3-\sqrt5}, -\sqrt{3-\sqrt5}";
    let six = r"\pm1\pm2\pm3\pm4\pm5\pm6";
    check(
        true,
        &[
            (r"\pm\sqrt{3\pm\sqrt5}", roots),
            (r"\pm\sqrt{3\pm\sqrt5}", r"\pm\sqrt{3\pm\sqrt5}"),
            (r"(\pm 3, \pm 4)", "(3,4), (-3,4), (3,-4), (-3,-4)"),
            (r"\pm 1 \pm i", "1+i, 1-i, -1+i, -1-i"),
            (r"(\pm 3, 0)", "(3,0), (-3,0)"),
            (r"\{\pm1, \pm2\}", "-2, -1, 1, 2"),
            // Beyond the limit, as written.
            (six, six),
        ],
    );
    check(
        false,
        &[
            (r"\pm\sqrt{3\pm\sqrt5}", r"\sqrt{3+\sqrt5}, -\sqrt{3-\sqrt5}"),
            (r"(\pm 3, \pm 4)", "(3,4), (-3,-4)"),
            (six, "21"),
        ],
    );
}

#[test]
fn every_comma_separates_where_the_other_side_is_a_list() {
    check(
        true,
        &[
            ("153, 370, 371, 407", "153,370,371,407"),
            ("153,370,371,407", "153, 370, 371, 407"),
            ("132, 264", "132,264"),
            (r"\{132, 264\}", "264,132"),
            ("132,264", "132264"),
        ],
    );
    check(
        false,
        &[
            ("132, 264", "132,265"),
            ("132, 264, 3", "132,264"),
            ("32349", "32, 349"),
            ("1{,}234", "1, 234"),
            ("1,000", "0, 1"),
        ],
    );
}

#[test]
fn equal_alternatives_are_one_answer() {
    check(
        true,
        &[
            ("1/2", r"\frac12 \text{ or } 0.5"),
            ("1/2", r"0.5 \text{ or } 50\%"),
            ("x=1/2", r"x = \frac12 \text{ or } x = 0.5"),
        ],
    );
    let boxes = r"$\boxed{\frac12}$ or $\boxed{0.5}$";
    assert!(verdict(boxes, "1/2").is_correct());
    check(
        false,
        &[
            ("1/2", r"\frac12 \text{ or } 0.6"),
            ("1/3", r"\frac13 \text{ or } 0.34"),
            ("50", r"50 \text{ or } 50\%"),
            ("5", r"5 \text{ km or } 5 \text{ m}"),
            ("5", "x = 5, y = 5"),
            ("2, 2", "2"),
        ],
    );
}

#[test]
fn conditions_are_no_members() {
    let quarter = r"\frac{\pi}{4}+k\pi, k\in\mathbb{Z}";
    check(
        true,
        &[
            ("f(x)=cx", r"f(x)=cx,\; c\in\mathbb{R}"),
            ("y = ae^x + be^{-x}", r"y = ae^x + be^{-x}, a, b \in \mathbb{R}"),
            ("2^k", r"2^k, k\in\mathbb{Z}^+"),
            ("2^k", r"2^k, k\in\mathbb{Z}_{\ge 0}"),
            ("a_n=2^n", r"a_n=2^n \text{ for all } n\ge 1"),
            (r"a_n=2^n, n\in\mathbb{N}", r"a_n=2^n \text{ for } n\ge 1"),
            (quarter, r"\frac{\pi}{4}+n\pi, n\in\mathbb{Z}"),
            (quarter, r"\frac{\pi}{4}+n\pi \text{ where } n\in\mathbb{Z}"),
            (quarter, r"\frac{\pi}{4}+k\pi"),
            (r"2^k, k\in\mathbb{Z}^+", r"2^n, n\in\mathbb{N}"),
            ("x > 2", r"x \in \mathbb{R}, x > 2"),
        ],
    );
    check(
        false,
        &[
            (quarter, r"\frac{\pi}{4}+2n\pi, n\in\mathbb{Z}"),
            (quarter, r"\frac{\pi}{4}+n\pi"),
            (r"m\pi + k, k\in\mathbb{Z}", r"k\pi + m, m\in\mathbb{Z}"),
            (r"k\pi + m, k\in\mathbb{Z}", r"m\pi + m, m\in\mathbb{Z}"),
            // Both say what the variable is, and do not agree.
            (r"2^k, k\in\mathbb{Z}^+", r"2^k, k\in\mathbb{Z}_{\ge 0}"),
            (r"a_n=2^n \text{ for } n\ge 1", r"a_n=2^n \text{ for } n\ge 0"),
            // A condition of nothing in the answer.
            ("12", r"12 \text{ for } x > 13"),
            // The conditions of cases belong to their values.
            (
                r"x^2 \text{ for } x>0, -x \text{ for } x<0",
                r"-x \text{ for } x>0, x^2 \text{ for } x<0",
            ),
        ],
    );
}
