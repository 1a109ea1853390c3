//! Expressions against 128-bit arithmetic, and what is refused where.

use proptest::prelude::*;

use super::*;

fn names() -> Names {
    [("n", 1_000), ("m", 7), ("zero", 0), ("huge", i64::MAX)]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}

fn check(text: &str, expected: Result<i64, &str>) {
    let found = Expression::Text(text.into()).value(&names());
    match (&found, expected) {
        (Ok(value), Ok(expected)) => assert_eq!(*value, expected, "{text}"),
        (Err(problem), Err(part)) => assert!(problem.contains(part), "{text}: {problem}"),
        _ => panic!("{text}: {found:?}"),
    }
}

#[test]
fn arithmetic_is_as_everywhere() {
    check("n", Ok(1_000));
    check(" 2 + 3 * m - 1", Ok(22));
    check("(2 + 3) * m", Ok(35));
    check("n / m % 10", Ok(2));
    check("10 - 3 - 2", Ok(5));
    check("-m + 10", Ok(3));
    check("- -m", Ok(7));
    check("ceil_div(n, 256) * 2", Ok(8));
    check("ceil_div(n, 1000)", Ok(1));
    check("min(n, max(m, 12)) ", Ok(12));
    assert_eq!(Expression::Number(5).value(&names()), Ok(5));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    check("n +", Err("at character 4: it ends too early"));
    check("n n", Err("at character 3: `n` is not expected"));
    check("rows * 2", Err("at character 1: the size gives no integer `rows`"));
    check("pow(n, 2)", Err("there is no function `pow`"));
    check("min(n)", Err("at character 6: `,` is needed"));
    check("(n", Err("`)` is needed"));
    check("n / zero", Err("division by zero"));
    check("ceil_div(n, 0)", Err("must be positive, not 0"));
    check("huge + 1", Err("beyond 64 bits"));
    check("huge * huge", Err("beyond 64 bits"));
    check("99999999999999999999", Err("no 64-bit number"));
    check("3x", Err("`3x` is no 64-bit number"));
    check("n ü", Err("`ü` is not expected"));
    check("", Err("ends too early"));
    check(&"(".repeat(200), Err("nested too deep"));
    check(&"-".repeat(200), Err("nested too deep"));
    check(&"1+".repeat(200), Err("longer than"));
}

/// A random expression with its value, where it has one within 64 bits at each step.
fn expressions() -> impl Strategy<Value = (String, Option<i128>)> {
    let leaf = (0_i64..50).prop_map(|number| (number.to_string(), Some(i128::from(number))));
    leaf.prop_recursive(4, 24, 2, |inner| {
        (inner.clone(), inner, 0..8_usize).prop_map(|((a, x), (b, y), which)| {
            let fits = |value: i128| i64::try_from(value).is_ok().then_some(value);
            let both = x.zip(y);
            let text = match which {
                0 => format!("({a} + {b})"),
                1 => format!("({a}-{b})"),
                2 => format!("({a}*{b})"),
                3 => format!("({a}) / ({b})"),
                4 => format!("({a}) % ({b})"),
                5 => format!("ceil_div({a}, {b})"),
                6 => format!("min({a},{b})"),
                _ => format!("max( {a} , {b} )"),
            };
            let value = both.and_then(|(x, y)| match which {
                0 => fits(x + y),
                1 => fits(x - y),
                2 => fits(x * y),
                3 => x.checked_div(y),
                4 => x.checked_rem(y),
                5 if y > 0 => Some((x + y - 1).div_euclid(y)),
                5 => None,
                6 => Some(x.min(y)),
                _ => Some(x.max(y)),
            });
            // In parentheses, so that what surrounds it cannot take it apart.
            (format!("({text})"), value)
        })
    })
}

proptest! {
    #[test]
    fn values_are_exact((text, expected) in expressions()) {
        prop_assume!(text.len() <= EXPRESSION_BYTES_MAX);
        let found = evaluate(&text, &Names::new());
        prop_assert_eq!(found.clone().ok().map(i128::from), expected, "{}: {:?}", text, found);
    }

    #[test]
    fn no_text_is_too_strange(text in "[a-z0-9+*/%(), -]{0,40}|\\PC{0,20}") {
        let _ = Expression::Text(text).value(&names());
    }
}
