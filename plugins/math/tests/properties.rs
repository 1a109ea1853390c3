//! Two forms of one value agree, and a value changed in one place does not.

use assay_plugin_math::{Label, Settings, Verdict, verify};
use proptest::prelude::*;

fn judge(answer: &str, label: &str) -> Verdict {
    let label = Label::read(label).expect("a label");
    verify(&format!("Thus $\\boxed{{{answer}}}$."), &[label], &Settings::default()).verdict
}

/// A fraction in lowest terms with some of the forms that have its value.
fn forms_of_fraction(over: i64, under: i64) -> Vec<String> {
    let sign = if over < 0 { "-" } else { "" };
    let (top, whole, part) = (over.abs(), over.abs() / under, over.abs() % under);
    let mut forms = vec![
        format!("{over}/{under}"),
        format!("{sign}\\frac{{{top}}}{{{under}}}"),
        format!("\\dfrac{{{over}}}{{{under}}}"),
        format!("{sign}\\frac{{{}}}{{{}}}", top * 3, under * 3),
        format!("x = {over}/{under}"),
        format!("{sign}({top} \\div {under})"),
        format!("\\\\frac{{{over}}}{{{under}}}"),
        format!("{sign}\\left(\\frac{{{top}}}{{{under}}}\\right)"),
        format!("{sign}\\frac{{{}}}{{{under}}}\\%", top * 100),
    ];
    if whole > 0 && part > 0 {
        forms.push(format!("{sign}{whole}\\frac{{{part}}}{{{under}}}"));
        forms.push(format!("{sign}{whole} {part}/{under}"));
    }
    if 1_000 % under == 0 {
        let decimal = format!("{sign}{}.{:03}", whole, part * 1_000 / under);
        forms.push(decimal.clone());
        forms.push(format!("{decimal}0"));
    }
    forms
}

fn grouped(value: i64, separator: &str) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push_str(separator);
        }
        grouped.push(digit);
    }
    grouped
}

fn forms_of_whole(value: i64) -> Vec<String> {
    let mut forms = vec![value.to_string(), format!("{value}.0"), format!("{}/2", value * 2)];
    for separator in [",", "{,}", r"\,", r"\!", r",\!", r",\! ", " "] {
        forms.push(grouped(value, separator));
    }
    forms.extend([
        format!("\\text{{Total}} = {value}"),
        format!("{value}\\text{{ units}}"),
        format!("{value:b}_2"),
        value
            .to_string()
            .chars()
            .filter_map(|digit| char::from_u32(digit as u32 - 0x30 + 0xFF10))
            .collect(),
    ]);
    forms
}

fn forms_of_surd(factor: i64, inside: i64) -> Vec<String> {
    vec![
        format!("{factor}\\sqrt{{{inside}}}"),
        format!("\\sqrt{{{}}}", factor * factor * inside),
        format!("{factor}√{inside}"),
        format!("{factor} \\cdot {inside}^{{1/2}}"),
        format!("\\frac{{{}}}{{\\sqrt{{{inside}}}}}", factor * inside),
        format!("{factor} sqrt({inside})"),
    ]
}

/// All forms that differ from `right` in one digit.
fn mutations(right: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (at, digit) in right.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        let other = char::from_digit((digit as u32 - '0' as u32 + 1) % 10, 10).expect("a digit");
        all.push(format!("{}{other}{}", &right[..at], &right[at + 1..]));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 4,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn forms_of_a_fraction_agree(over in -400_i64..400, under in 2_i64..60) {
        prop_assume!(over % under != 0);
        let forms = forms_of_fraction(over, under);
        for label in &forms {
            for form in &forms {
                let verdict = judge(form, label);
                prop_assert!(verdict.is_correct(), "{form} for {label}: {verdict:?}");
            }
        }
    }

    #[test]
    fn forms_of_a_whole_number_agree(value in 1_000_i64..9_999_999) {
        for form in forms_of_whole(value) {
            prop_assert!(judge(&form, &value.to_string()).is_correct(), "{form} for {value}");
            prop_assert!(judge(&value.to_string(), &form).is_correct(), "{value} for {form}");
            prop_assert!(!judge(&form, &(value + 1).to_string()).is_correct(), "{form} for {value} + 1");
            prop_assert!(!judge(&(value - 1).to_string(), &form).is_correct(), "{value} - 1 for {form}");
        }
    }

    #[test]
    fn forms_of_a_surd_agree(factor in 2_i64..30, inside in prop::sample::select(&[2_i64, 3, 5, 6, 7, 10, 11][..])) {
        for form in forms_of_surd(factor, inside) {
            for label in forms_of_surd(factor, inside) {
                prop_assert!(judge(&form, &label).is_correct(), "{form} for {label}");
            }
            for label in forms_of_surd(factor + 1, inside) {
                prop_assert!(!judge(&form, &label).is_correct(), "{form} for {label}");
            }
        }
    }

    #[test]
    fn a_changed_digit_is_another_value(over in 1_i64..400, under in 2_i64..60) {
        prop_assume!(over % under != 0);
        for form in forms_of_fraction(over, under) {
            for mutation in mutations(&form) {
                // A mutation may be no mathematics, such as a fraction over zero; it is never right.
                let (other_over, other_under) = value(&mutation).unwrap_or((0, 0));
                if other_over * under == over * other_under && other_under != 0 {
                    continue;
                }
                let verdict = judge(&mutation, &format!("{over}/{under}"));
                prop_assert!(!verdict.is_correct(), "{mutation} for {over}/{under}: {verdict:?}");
            }
        }
    }

    #[test]
    fn a_great_irrational_plus_one_differs(power in 20_u32..60, add in 1_u32..9) {
        for base in ["e", r"\pi", r"(1+\sqrt{3})", r"(\ln 7 + 9)", r"\sqrt[3]{7000}"] {
            let value = format!("{base}^{{{power}}}");
            let verdict = judge(&format!("{value} + {add}"), &value);
            prop_assert!(!verdict.is_correct(), "{value} + {add}: {verdict:?}");
        }
    }

    #[test]
    fn members_count_and_keep_their_places(items in prop::collection::vec(-50_i64..50, 2..6)) {
        let text = |items: &[i64]| items.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let mut distinct = items.clone();
        distinct.sort_unstable();
        distinct.dedup();
        prop_assume!(distinct.len() == items.len());
        let mut turned = items.clone();
        turned.rotate_left(1);
        let set = |items: &[i64]| format!("\\{{{}\\}}", text(items));
        let point = |items: &[i64]| format!("({})", text(items));
        prop_assert!(judge(&set(&turned), &set(&items)).is_correct());
        prop_assert!(judge(&text(&turned), &set(&items)).is_correct());
        prop_assert!(judge(&point(&items), &point(&items)).is_correct());
        prop_assert!(!judge(&point(&turned), &point(&items)).is_correct());
        prop_assert!(!judge(&set(&items[1..]), &set(&items)).is_correct());
        let mut changed = items.clone();
        changed[0] += 100;
        prop_assert!(!judge(&set(&changed), &set(&items)).is_correct());
    }
}

/// The value of a mutated fraction, worked out without the plugin, where its form is one of the plain ones.
fn value(text: &str) -> Option<(i64, i64)> {
    let text = text.strip_prefix("x = ").unwrap_or(text);
    let hundredth = text.ends_with("\\%");
    let digits: Vec<i64> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().expect("digits"))
        .collect();
    match digits.as_slice() {
        [over, under] if text.contains('.') => {
            let places = text.split('.').nth(1)?.len() as u32;
            Some((over * 10_i64.pow(places) + under, 10_i64.pow(places)))
        }
        [over, under] if hundredth => Some((*over, under * 100)),
        [over, under] => Some((*over, *under)),
        [whole, over, under] => Some((whole * under + over, *under)),
        _ => None,
    }
}
