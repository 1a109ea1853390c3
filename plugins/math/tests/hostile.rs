//! Responses made to break the verifier: it must answer, whatever they hold.

use std::time::{Duration, Instant};

use assay_plugin::{Plugin, Request};
use assay_plugin_math::{Label, Math, Settings, Verdict, verify};
use proptest::prelude::*;

fn judge(answer: &str, label: &Label) -> Verdict {
    let labels = std::slice::from_ref(label);
    verify(&format!("\\boxed{{{answer}}}"), labels, &Settings::default()).verdict
}

#[test]
fn bombs_are_refused_in_time() {
    let nested = |open: &str, close: &str, count: usize| {
        format!("{}1{}", open.repeat(count), close.repeat(count))
    };
    let bombs = [
        "2^{10^{10}}".to_owned(),
        "2^10^10^10".into(),
        "9^{9^{9^9}}".into(),
        "10^{1000000}".into(),
        "1e999999999".into(),
        "1e1000-1".into(),
        "(10^{1000})!".into(),
        "170!!!".into(),
        "((2^{4000})^{2})^{2}".into(),
        r"\binom{1000000}{500000}".into(),
        "(x+y+z+w)^{64}(x-y-z-w)^{64}".into(),
        "(a+b+c+d+f+g)^{50}".into(),
        r"\sqrt{999999999999999989}".into(),
        "9".repeat(2_000),
        format!("0.{}", "9".repeat(1_500)),
        "9".repeat(2_000_000),
        nested("(", ")", 1_000),
        nested("{", "}", 1_000),
        nested("(", ")", 500_000),
        nested(r"\frac{", "}{2}", 200),
        nested(r"\sqrt{", "}", 250),
        nested(r"\bm{", "}", 100_000),
        nested("[", ",1]", 400),
        "-".repeat(2_000) + "1",
        "2^".repeat(900) + "2",
        "1+".repeat(1_000) + "1",
        "1,".repeat(1_000) + "1",
        "(1/3+".repeat(30) + "1" + &")^9".repeat(30),
        "|".repeat(2_000),
        "$".repeat(2_000),
        r"\pm ".repeat(400) + "1",
        r"\begin{pmatrix}".repeat(100),
        "1&".repeat(1_000),
        r"\boxed{".repeat(100_000),
        r"\boxed{1}, ".repeat(100_000),
        "$1$ and ".repeat(100_000),
        "#".repeat(2_000_000),
        "#### ".repeat(400_000),
        "1".to_owned() + &" 234".repeat(500_000) + " or 5" + &" 678".repeat(20),
        r"\log_{1+3^{-4000}}{2}".into(),
        r"\log_{1+3^{-4000}}{2^{4000}}".into(),
        "</think>".repeat(100_000),
        r"\\frac".repeat(300),
        "1 ".repeat(500_000),
        "９".repeat(300_000),
        "²".repeat(900),
        r"\begin{pmatrix}1&1\\1&1\end{pmatrix}".repeat(50),
        format!(r"\begin{{pmatrix}}{}\end{{pmatrix}}", "1&".repeat(400) + "1"),
        r"\sin(".repeat(30) + "1" + &")".repeat(30),
        (1..40).map(|n| format!(r"\sin({n})")).collect::<Vec<_>>().join("+"),
        "x_1'".repeat(400),
        r"\text{".repeat(300),
        (1..150).map(|n| format!("\\sqrt{{{n}}}+")).collect::<String>() + "1",
        (2..150).map(|n| format!("\\frac{{1}}{{x+{n}}}+")).collect::<String>() + "1",
        (2..199).map(|n| format!("\\frac{{1}}{{{}}}+", n * n * n + 1)).collect::<String>() + "1",
    ];
    let label = Label::read("17").expect("a label");
    for bomb in &bombs {
        let started = Instant::now();
        let verdict = judge(bomb, &label);
        let shown: String = bomb.chars().take(40).collect();
        assert!(!verdict.is_correct(), "{shown}: {verdict:?}");
        // A guard against hanging, not a measurement: unoptimised and on a busy machine.
        assert!(started.elapsed() < Duration::from_secs(120), "{shown}: {:?}", started.elapsed());
    }
}

const PIECES: &[&str] = &[
    r"\frac",
    r"\sqrt",
    r"\boxed",
    r"\left",
    r"\right",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "^",
    "_",
    "+",
    "-",
    "*",
    "/",
    "=",
    "<",
    r"\le",
    ",",
    ";",
    "|",
    "!",
    "%",
    r"\%",
    "$",
    r"\$",
    r"\{",
    r"\}",
    "&",
    r"\\",
    r"\begin{pmatrix}",
    r"\end{pmatrix}",
    r"\text{ cm}",
    r"\text{",
    r"\pi",
    "e",
    "i",
    "x",
    "y",
    "f",
    "2",
    "10",
    "1,234",
    "0.5",
    "1e9",
    ".",
    " ",
    r"\cup",
    r"\in",
    r"\infty",
    r"\pm",
    r"\sin",
    r"\log",
    r"\binom",
    " m",
    "km",
    "million",
    "or",
    "°",
    "²",
    "½",
    "π",
    "é",
    "\n",
    "#### ",
    "\\\\",
    r"\\frac",
    r"\overline",
    r"\begin{cases}",
    r"\end{cases}",
    r"\setminus",
    r"\mathbb{R}",
    r"\ne",
    r"\approx",
    r"\{x \mid",
    "_2",
    "_{16}",
    ":",
    "3:30 PM",
    "May 5",
    "2020-05-05",
    "1 250,75",
    "²",
    "₂",
    "５",
    "'",
    "or",
    "x \\ne 3",
    "</think>",
    "Answer: ",
    "A:",
    "x_1",
    r"\text{ for all } n \ge ",
    r", k \in \mathbb{Z}^+",
    r"\text{Alice} = ",
    "x > ",
    "1 1/2",
    "<|im_end|>",
];

const PROFILES: &[&str] =
    &["math-verify", "hendrycks", "gsm8k", "minerva", "prime", "multiple-choice"];
const LEADS: &[&str] =
    &["", "#### ", "\\boxed{", "Final Answer: The final answer is ", "</think>", "答案 is "];

fn near_latex() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..30).prop_map(|pieces| pieces.concat())
}

/// Expressions that are always readable, with brackets round every part.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (0_u32..200).prop_map(|number| number.to_string()),
        (1_u32..99, 1_u32..99).prop_map(|(over, under)| format!("\\frac{{{over}}}{{{under}}}")),
        (0_u32..99, 0_u32..99).prop_map(|(whole, part)| format!("{whole}.{part}")),
        prop::sample::select(&["x", "y", r"\pi", "\\sqrt{2}", "\\sqrt{12}", "e"][..])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) + ({b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) - ({b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a})({b})")),
            (inner.clone(), 0_u32..4).prop_map(|(a, n)| format!("({a})^{{{n}}}")),
            inner.prop_map(|a| format!("-({a})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4 * ProptestConfig::default().cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_gets_an_outcome(response in ".{0,200}", label in ".{0,40}") {
        let label = serde_json::Value::from(label).to_string();
        let request = Request::new("", &response, &label);
        let _ = Math::run_stage("score", "{}", &request, None);
        let _ = Math::run_stage("score", &response, &request, None);
    }

    #[test]
    fn any_text_gets_an_outcome_from_every_profile(
        response in prop_oneof![near_latex(), ".{0,200}"],
        label in prop_oneof![near_latex(), ".{0,40}"],
        lead in prop::sample::select(LEADS),
    ) {
        let label = serde_json::Value::from(label).to_string();
        let request = Request::new("", &format!("{lead}{response}"), &label);
        for profile in PROFILES {
            let settings = format!("{{\"profile\": \"{profile}\"}}");
            let _ = Math::run_stage("score", &settings, &request, None);
        }
        let _ = Math::run_stage("score", r#"{"boxes": "agree", "decimals": 3}"#, &request, None);
    }

    #[test]
    fn anything_like_latex_gets_an_outcome(answer in near_latex(), other in near_latex()) {
        let settings = Settings::default();
        if let Ok(label) = Label::read(&other) {
            let _ = verify(&answer, std::slice::from_ref(&label), &settings);
            let _ = judge(&answer, &label);
        }
    }

    #[test]
    fn what_is_a_label_equals_itself(answer in near_latex()) {
        let balanced = answer.matches('{').count() == answer.matches('}').count();
        // A long text of several sentences may be a whole solution, which is no answer.
        let solution = answer.contains(". ");
        if balanced && !solution && !answer.contains("boxed") && !answer.contains("####") && !answer.contains("</think>")
            && let Ok(label) = Label::read(&answer)
            && box_keeps(&answer)
        {
            prop_assert!(judge(&answer, &label).is_correct(), "{answer}");
        }
    }

    #[test]
    fn an_expression_equals_itself(left in expression()) {
        let label = Label::read(&left).expect("readable");
        prop_assert!(judge(&left, &label).is_correct(), "{left}");
        let exact = Settings { tolerance: 0.0, ..Settings::default() };
        let more = format!("\\boxed{{{left} + 1}}");
        prop_assert_eq!(verify(&more, &[label], &exact).verdict, Verdict::Wrong);
    }

    #[test]
    fn equality_is_symmetric(left in expression(), right in expression()) {
        let there = judge(&left, &Label::read(&right).expect("readable"));
        let back = judge(&right, &Label::read(&left).expect("readable"));
        prop_assert_eq!(there, back, "{} and {}", left, right);
    }

    #[test]
    fn rearranging_keeps_the_value(left in expression(), right in expression()) {
        let label = Label::read(&format!("({left}) + ({right})")).expect("readable");
        let swapped = format!("({right}) + ({left})");
        prop_assert!(judge(&swapped, &label).is_correct());
        let label = Label::read(&format!("({left})({right})")).expect("readable");
        let swapped = format!("({right}) \\cdot ({left})");
        prop_assert!(judge(&swapped, &label).is_correct());
    }
}

/// Whether a text comes out of a box as it went in, also where its backslashes are doubled and become single.
fn box_keeps(text: &str) -> bool {
    closes(text) && closes(&text.replace(r"\\", r"\"))
}

/// Whether the braces of a text are closed before a brace that follows it.
fn closes(text: &str) -> bool {
    let mut depth = 0_i32;
    let mut escaped = false;
    for byte in text.bytes() {
        match byte {
            b'\\' => escaped = !escaped,
            _ if escaped => escaped = false,
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && !escaped
}
