//! Responses that try to be right without knowing, each with the verdict it must get, and settings that say how
//! lenient the verifier is.

use assay_plugin_math::{AnswerFrom, Boxes, Label, Settings, Verdict, verify};

fn judge(response: &str, label: &str, settings: &Settings) -> Verdict {
    let label = Label::read(label).expect("a label");
    verify(response, &[label], settings).verdict
}

fn check(settings: &Settings, rows: &[(&str, &str, Verdict)]) {
    let failed: Vec<_> = rows
        .iter()
        .map(|(response, label, expected)| {
            (response, label, expected, judge(response, label, settings))
        })
        .filter(|(_, _, expected, verdict)| *expected != verdict)
        .map(|(response, label, expected, verdict)| {
            format!("{response:?} for {label:?}: {verdict:?}, not {expected:?}")
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn hedges_are_wrong() {
    use Verdict::{NoAnswer, Unparsable, Wrong};
    check(
        &Settings::default(),
        &[
            // All candidates listed.
            (r"\boxed{12, 13, 14}", "13", Wrong),
            (r"\boxed{12} or \boxed{13}", "13", Wrong),
            (r"\boxed{12}, \boxed{13}, \boxed{14}", "14", Wrong),
            (r"\boxed{12 \text{ or } 13}", "13", Wrong),
            (r"\boxed{12 or 13}", "12", Wrong),
            ("Answer: 12 or 13", "13", Wrong),
            ("The answer is either $12$ or $13$.", "13", Wrong),
            (r"\boxed{\{12, 13\}}", "13", Wrong),
            (r"\boxed{\pm 13}", "13", Wrong),
            (r"\boxed{A \text{ or } B}", "B", Wrong),
            (r"\boxed{A, B, C, D}", "B", Wrong),
            (r"\boxed{A, B, C, D}", "A", Wrong),
            (r"\boxed{A or B}", "A", Wrong),
            (r"\boxed{(A) or (B)}", "A", Wrong),
            (r"\boxed{\text{(A) and (C)}}", "A", Wrong),
            (r"\boxed{(A), or (B)}", "A", Wrong),
            (r"\boxed{(A), and (C)}", "A", Wrong),
            (r"\boxed{(A), or maybe (B)}", "A", Unparsable),
            ("The answer is A, since it is A, or B.", "B", Wrong),
            ("Answer: A/B", "A", Wrong),
            ("Either 12 or 13", "13", Wrong),
            ("The answer is either 12 or 13.", "13", Wrong),
            ("Answer: 1.2", "1,2", Wrong),
            (r"\boxed{2x + blah = 12}", "12", Unparsable),
            (r"\boxed{\text{yes or no}}", "yes", Wrong),
            (r"\boxed{\text{Yes, no}}", "yes", Wrong),
            (r"\boxed{A B C D}", "A", Wrong),
            (r"\boxed{(A) (B)}", "A", Wrong),
            (r"\boxed{A is wrong}", "A", Unparsable),
            ("The answer is not 12.", "12", Unparsable),
            ("Answer: not 12", "12", Unparsable),
            ("The answer is not 12 but 13.", "12", Wrong),
            // A second answer inside words or brackets.
            (r"\boxed{12 \text{ plus one}}", "12", Unparsable),
            (r"\boxed{12 \text{ x^2}}", "12", Unparsable),
            (r"\boxed{12 \text{ less than } x}", "12", Unparsable),
            (r"\boxed{12 \text{ factorial}}", "12", Unparsable),
            (r"\boxed{12\text{ units}\cdot\pi}", "12", Unparsable),
            (r"\boxed{12\text{ units}/\pi}", "12", Unparsable),
            (r"\boxed{12\text{ units}/x}", "12", Unparsable),
            (r"\boxed{12/\text{hour or 13}}", "12", Unparsable),
            (r"\boxed{12\text{ cm}\cdot x^2}", "12", Unparsable),
            (r"\boxed{3\text{ tenths}}", "3", Unparsable),
            (r"\boxed{7\text{ divided by two}}", "7", Unparsable),
            (r"\boxed{7\text{ over two}}", "7", Unparsable),
            (r"\boxed{15\text{ squared}}", "15", Unparsable),
            (r"\boxed{\text{12 or 13}}", "12", Wrong),
            (r"\boxed{\text{12 plus one}}", "12", Unparsable),
            (r"\boxed{12 \text{ (or 13)}}", "12", Unparsable),
            (r"\boxed{12 \text{ or maybe 13}}", "12", Unparsable),
            (r"\boxed{12 \text{ but not sure}}", "12", Unparsable),
            (r"\boxed{12 | 13}", "12", Unparsable),
            (r"\boxed{12 / 13}", "12", Wrong),
            (r"\boxed{12 = 13}", "12", Wrong),
            (r"\boxed{12 \approx 13}", "13", Wrong),
            (r"\boxed{500 \approx 501}", "501", Wrong),
            (r"\boxed{x = 500 \approx 501}", "501", Wrong),
            (r"\boxed{\frac{1000}{2} \approx 501.0}", "501", Wrong),
            (r"\boxed{500 \approx 501 + \sin\pi}", "501", Wrong),
            (r"\boxed{500.4 \approx 500.5}", "500.5", Wrong),
            (r"\boxed{500+\sin\pi \approx 501}", "501", Wrong),
            (r"\boxed{e^{\ln 500} \approx 501}", "501", Wrong),
            (r"\boxed{\frac{1001}{2} \approx 502}", "502", Wrong),
            (r"\boxed{7 \approx 2\pi}", r"2\pi", Wrong),
            (r"\boxed{500 \approx 500.4 + \sin\pi}", "500.4", Wrong),
            (r"\boxed{12; 13}", "12", Wrong),
            (r"\boxed{12 \\ 13}", "12", Unparsable),
            (r"\boxed{12\ 13}", "13", Unparsable),
            // Answers hidden in prose before the one that counts.
            (r"It may be 12, or 13, or 14. \boxed{15}", "13", Wrong),
            ("Answer: 12. Answer: 13.", "12", Wrong),
            ("The answer is 12. The answer is 13.", "12", Wrong),
            (r"\boxed{12} and after a check \boxed{", "12", NoAnswer),
            ("<think>the answer is 12</think> I do not know.", "12", NoAnswer),
            ("<think>3 + 9 = 12, so that", "12", NoAnswer),
            ("<answer>13</answer> as 12 is too small", "12", Wrong),
            ("<answer>12</answer> or <answer>13</answer>", "12", Wrong),
            ("<think>a</think><answer>x^2+7</answer>", "7", Wrong),
            ("So x = 2 or x = 3.", "3", Wrong),
            ("So x is 2 and 3.", "3", Wrong),
            ("Answer: No idea", "no", Wrong),
            (r"<think>\boxed{12}</think> So it is \boxed{13}", "12", Wrong),
            // The label quoted from the prompt.
            ("You asked whether the answer is 12. I cannot tell: 99.", "12", Wrong),
            ("The prompt says 12, so I compute 5.", "12", Wrong),
            (r"The key says \boxed{12}? I get \boxed{13}.", "12", Wrong),
            // Formulas that hold the answer without being it.
            (r"\boxed{12 + 0.5}", "12", Wrong),
            (r"\boxed{x^2 - 144 = 0}", "12", Wrong),
            (r"\boxed{[0, 100]}", "12", Wrong),
            (r"\boxed{x \le 12}", "12", Wrong),
            (r"\boxed{(12, 12)}", "12", Wrong),
            ("", "12", NoAnswer),
            (r"\boxed{}", "12", Unparsable),
        ],
    );
}

#[test]
fn values_near_zero_are_no_wildcards() {
    use Verdict::{CorrectExact, CorrectNumeric, Wrong};
    check(
        &Settings::default(),
        &[
            // A ratio of zeros would be proportional to every ratio.
            (r"\boxed{(1-1):(1-1)}", "3:4", Wrong),
            (r"\boxed{x-x : x-x}", "3:4", Wrong),
            (r"\boxed{\sin\pi : \sin\pi}", "3:4", Wrong),
            (r"\boxed{\sqrt{2}-2^{1/2} : \ln 1 : 0.0}", "1:2:3", Wrong),
            (r"\boxed{10^{-400}\sin 1 : 10^{-400}\sin 1}", "3:4", Wrong),
            (r"\boxed{6\cdot 10^{-20} : 8\cdot 10^{-20}}", "3:4", CorrectExact),
            (r"\boxed{3x : 4x}", "3:4", CorrectExact),
            (r"\boxed{0:5}", "0:5", CorrectExact),
            (r"\boxed{0:7}", "0:5", Wrong),
            // Small numbers differ as large ones do.
            (r"\boxed{1.0 \times 10^{-13}}", r"6.63 \times 10^{-34}", Wrong),
            (r"\boxed{6.64 \times 10^{-34}}", r"6.63 \times 10^{-34}", Wrong),
            (r"\boxed{2.0\pi \times 10^{-34}}", r"1.0\pi \times 10^{-34}", Wrong),
            (r"\boxed{10^{-34}\sin 1}", r"10^{-34}\sin 2", Wrong),
            (r"\boxed{1.0 \times 10^{-400}}", r"2.0 \times 10^{-400}", Wrong),
            (r"\boxed{6.63000001 \times 10^{-34}}", r"6.63 \times 10^{-34}", CorrectNumeric),
            (r"\boxed{0}", r"\frac{1}{2017^{2016}}", Wrong),
            (r"\boxed{\frac{1}{2016^{2017}}}", r"\frac{1}{2017^{2016}}", Wrong),
            (r"\boxed{1}", r"1-\frac{1}{2017^{2016}}", Wrong),
            (r"\boxed{(\frac23)^{10000}}", r"(\frac13)^{20000}", Wrong),
            (r"\boxed{e^{-70}}", "0", Wrong),
            (r"\boxed{e^{-2023}}", "0", Wrong),
            (r"\boxed{1000000000.0+\sin\pi}", "1000000007", Wrong),
            (r"\boxed{\sin\pi}", "0", CorrectNumeric),
            (r"\boxed{\sin^2 x + \cos^2 x - 1}", "0", CorrectNumeric),
        ],
    );
}

#[test]
fn contradicting_boxes_are_a_setting() {
    let agree = Settings { boxes: Boxes::Agree, ..Settings::default() };
    let twice = r"So \boxed{12}. Wait: it is \boxed{13}.";
    check(
        &Settings::default(),
        &[(twice, "13", Verdict::CorrectExact), (twice, "12", Verdict::Wrong)],
    );
    check(
        &agree,
        &[
            (twice, "13", Verdict::Contradictory),
            (r"\boxed{0.5}. Thus \boxed{\frac12}.", "1/2", Verdict::CorrectExact),
            (r"\boxed{13}", "13", Verdict::CorrectExact),
            (r"\boxed{2} and \boxed{5}", "2,5", Verdict::CorrectExact),
            (r"\boxed{2}. No: \boxed{2} and \boxed{5}", "2,5", Verdict::Contradictory),
        ],
    );
}

#[test]
fn the_least_mark_is_a_setting() {
    let responses = [
        (r"so \boxed{12}", AnswerFrom::Box),
        ("#### 12", AnswerFrom::Mark),
        ("The answer is 12.", AnswerFrom::Mark),
        ("we end with $12$", AnswerFrom::Formula),
        ("12", AnswerFrom::Formula),
        ("we end with 12", AnswerFrom::Anywhere),
    ];
    let order = [AnswerFrom::Box, AnswerFrom::Mark, AnswerFrom::Formula, AnswerFrom::Anywhere];
    for (response, least) in responses {
        let least = order.iter().position(|from| *from == least).expect("listed");
        for (at, from) in order.into_iter().enumerate() {
            let settings = Settings { answer_from: from, ..Settings::default() };
            let verdict = judge(response, "12", &settings);
            assert_eq!(verdict.is_correct(), at >= least, "{response} from {from:?}: {verdict:?}");
            assert_eq!(verdict == Verdict::NoAnswer, at < least, "{response} from {from:?}");
        }
    }
}
