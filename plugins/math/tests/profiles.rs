//! Profiles follow the published behaviour of the projects they are named after, on cases of our own.

use assay_plugin_math::{Label, Profile, Settings, Verdict, verify};

fn verdict(profile: Profile, response: &str, label: &str) -> Verdict {
    let settings = Settings { profile, ..Settings::default() };
    verify(response, &[Label::read(label).expect("a label")], &settings).verdict
}

fn check(profile: Profile, rows: &[(&str, &str, bool)]) {
    let failed: Vec<_> = rows
        .iter()
        .map(|(response, label, correct)| {
            (response, label, correct, verdict(profile, response, label))
        })
        .filter(|(_, _, correct, verdict)| verdict.is_correct() != **correct)
        .map(|(response, label, _, verdict)| format!("{response:?} for {label:?}: {verdict:?}"))
        .collect();
    assert!(failed.is_empty(), "{profile:?}:\n{}", failed.join("\n"));
}

#[test]
fn hendrycks_compares_normal_forms() {
    check(
        Profile::Hendrycks,
        &[
            (r"so \boxed{\dfrac{3}{4}}", r"\frac34", true),
            (r"so \boxed{3/4}", r"\frac{3}{4}", true),
            (r"so \boxed{0.75}", r"\frac{3}{4}", false),
            (r"so \boxed{.5}", r"\frac12", true),
            (r"so \boxed{x = 9}", "9", true),
            (r"so \boxed{xyz = 9}", "9", false),
            (r"so \boxed{9\text{ cm}}", "9", true),
            (r"so \boxed{9\text{cm}}", "9", false),
            (r"so \boxed{40^\circ}", "40", true),
            (r"so \boxed{\$7\%}", "7", true),
            (r"so \boxed{2\sqrt3}", r"2\sqrt{3}", true),
            (r"so \boxed{\sqrt{12}}", r"2\sqrt{3}", false),
            (r"so \boxed{\left(1,2\right)}", "(1, 2)", true),
            (r"so \boxed{1,000}", "1000", false),
            ("so 9", "9", false),
            (r"so \boxed{9", "9", false),
        ],
    );
    assert_eq!(verdict(Profile::Hendrycks, "so 9", "9"), Verdict::NoAnswer);
}

#[test]
fn gsm8k_compares_digits_after_hashes() {
    check(
        Profile::Gsm8k,
        &[
            ("It is\n#### 1,250", "1250", true),
            ("It is\n#### 1,250", "She has 1250.\n#### 1,250", true),
            ("#### -4", "-4", true),
            ("#### 4.0", "4", false),
            ("#### 4.", "4", false),
            ("####4", "4", false),
            ("#### $4", "4", false),
            ("#### 3\n#### 4", "4", true),
            ("The answer is 4", "4", false),
            (r"\boxed{4}", "4", false),
        ],
    );
}

#[test]
fn minerva_wants_its_sentence() {
    check(
        Profile::Minerva,
        &[
            (
                "Final Answer: The final answer is $\\frac12$. I hope it is correct.",
                r"\frac{1}{2}",
                true,
            ),
            (
                "Final Answer: The final answer is $0.5$. I hope it is correct.",
                r"\frac{1}{2}",
                true,
            ),
            (
                "Final Answer: The final answer is 30 degrees. I hope it is correct.",
                r"30^\circ",
                true,
            ),
            ("Final Answer: The final answer is $x = 7$. I hope it is correct.", "7", true),
            ("Final Answer: The final answer is $1,250$. I hope it is correct.", "1250", true),
            (
                "Final Answer: The final answer is $(x+1)^2$. I hope it is correct.",
                "x^2+2x+1",
                true,
            ),
            ("Final Answer: The final answer is $8$. I hope it is correct.", "9", false),
            (r"The final answer is \boxed{9}.", "9", false),
        ],
    );
}

#[test]
fn prime_is_lenient_with_numbers() {
    check(
        Profile::Prime,
        &[
            (r"\boxed{0.75}", r"\frac34", true),
            (r"\boxed{75}", "0.75", true),
            (r"\boxed{75\%}", "0.75", true),
            (r"\boxed{1.41421}", r"\sqrt{2}", true),
            (r"\boxed{1.41}", r"\sqrt{2}", false),
            (r"\boxed{12.56}", r"4\pi", true),
            (r"\boxed{(1, 2)}", "(1,2)", true),
            (r"\boxed{(2, 1)}", "(1,2)", false),
            ("Step 2: the answer is 14.", "14", true),
            ("so x = 14", "14", true),
            (r"\boxed{13}", "14", false),
            // Numbers without a value are near no number.
            (r"\boxed{inf}", "14", false),
            (r"\boxed{-infinity}", "-14", false),
            (r"\boxed{1e999}", "14", false),
            (r"\boxed{nan}", "14", false),
            (r"\boxed{3e307}", "1e308", false),
            (r"\boxed{1e999}", "1e999", true),
        ],
    );
}

#[test]
fn multiple_choice_takes_a_letter() {
    check(
        Profile::MultipleChoice,
        &[
            (r"\boxed{C}", "C", true),
            ("The answer is (C).", "C", true),
            ("Answer: c", "C", true),
            ("C. Because the others do not hold", "C", true),
            ("I compare (A) with (C) and choose **C**", "(C)", true),
            ("Answer: C<|im_end|>", "C", true),
            (r"\boxed{\text{(D)}}", "C", false),
            ("It is the third.", "C", false),
            ("A cat sits on the mat, so I cannot choose.", "A", false),
        ],
    );
}

#[test]
fn math_verify_rounds_to_six_decimals_and_takes_lists_for_points() {
    check(
        Profile::MathVerify,
        &[
            ("$0.333333$", "$1/3$", true),
            ("$0.33333$", "$1/3$", false),
            ("$0.141421$", r"$\frac{\sqrt2}{10}$", true),
            ("$0.14142$", r"$\frac{\sqrt2}{10}$", false),
            (r"$\boxed{1, 3}$", "$(1,3)$", true),
            (r"$\boxed{3, 1}$", "$(1,3)$", false),
            (r"$\boxed{x \in [1, 3]}$", r"$1 \le x \le 3$", true),
            (r"$\boxed{28\%}$", "$28$", true),
        ],
    );
    assert!(!verdict(Profile::Assay, r"$\boxed{1, 3}$", "$(1,3)$").is_correct());
}
