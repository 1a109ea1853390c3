//! The normal form of the MATH data set: layout, units and percent signs removed, fractions and roots braced. Two
//! answers are equal where their normal forms are the same text.

pub(super) fn normal(answer: &str) -> String {
    let mut text = answer.replace(['\n'], "").replace("\\!", "").replace("\\\\", "\\");
    for (from, to) in [
        ("tfrac", "frac"),
        ("dfrac", "frac"),
        ("\\left", ""),
        ("\\right", ""),
        ("^{\\circ}", ""),
        ("^\\circ", ""),
        ("\\$", ""),
    ] {
        text = text.replace(from, to);
    }
    if let Some((value, _)) = text.split_once("\\text{ ") {
        text.truncate(value.len());
    }
    text = text.replace("\\%", "").replace('%', "").replace(" .", " 0.").replace("{.", "{0.");
    if text.starts_with('.') {
        text.insert(0, '0');
    }
    let sides: Vec<&str> = text.split('=').collect();
    if let [name, value] = sides.as_slice()
        && name.chars().count() <= 2
    {
        text = (*value).to_owned();
    }
    let text = brace_roots(&text).replace(' ', "");
    let text = brace_fractions(&text);
    match text.as_str() {
        "0.5" => "\\frac{1}{2}".to_owned(),
        _ => slash_fraction(&text).unwrap_or(text),
    }
}

/// `\sqrt3` becomes `\sqrt{3}`.
pub(super) fn brace_roots(text: &str) -> String {
    let mut parts = text.split("\\sqrt");
    let mut braced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        braced.push_str("\\sqrt");
        let mut rest = part.chars();
        match rest.next() {
            Some('{') | None => braced.push_str(part),
            Some(radicand) => {
                braced.extend(['{', radicand, '}']);
                braced.push_str(rest.as_str());
            }
        }
    }
    braced
}

/// `\frac12` becomes `\frac{1}{2}` and `\frac1{72}` becomes `\frac{1}{72}`.
pub(super) fn brace_fractions(text: &str) -> String {
    let mut parts = text.split("\\frac");
    let mut braced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        braced.push_str("\\frac");
        let mut rest = part.chars();
        match (rest.next(), rest.next()) {
            (Some('{'), _) => braced.push_str(part),
            (Some(over), Some('{')) => {
                braced.extend(['{', over, '}', '{']);
                braced.push_str(rest.as_str());
            }
            (Some(over), Some(under)) => {
                braced.extend(['{', over, '}', '{', under, '}']);
                braced.push_str(rest.as_str());
            }
            _ => return text.to_owned(),
        }
    }
    braced
}

/// `3/4` becomes `\frac{3}{4}` where both are whole numbers as they are usually written.
fn slash_fraction(text: &str) -> Option<String> {
    let (over, under) = text.split_once('/')?;
    let whole = |part: &str| part.parse::<i64>().is_ok_and(|value| value.to_string() == part);
    (whole(over) && whole(under)).then(|| format!("\\frac{{{over}}}{{{under}}}"))
}
