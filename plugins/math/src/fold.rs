//! Brings a text to one alphabet before it is read: Unicode signs become LaTeX or ASCII, and backslashes that
//! a data set doubled become single. A text in plain ASCII without doubled backslashes is not copied.

use std::borrow::Cow;

use crate::names::is_command;

pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    let doubled = doubled(text);
    if text.is_ascii() && doubled == Doubled::No {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len() + text.len() / 4);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '\\' {
            rest = backslashes(rest, doubled, &mut folded);
            continue;
        }
        match raised(c)
            .map(|_| run(rest, raised))
            .or_else(|| lowered(c).map(|_| run(rest, lowered)))
        {
            Some((inner, after)) => {
                folded.push(if raised(c).is_some() { '^' } else { '_' });
                folded.push('{');
                folded.push_str(&inner);
                folded.push('}');
                rest = after;
            }
            None => {
                push(c, &mut folded);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    Cow::Owned(folded)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubled {
    No,
    /// Some commands have two backslashes, others one.
    Some,
    All,
}

/// How many backslashes stand before the commands of a text. A single one before `boxed` does not count: the answer
/// inside may be doubled, and is read as it is without the box.
fn doubled(text: &str) -> Doubled {
    let (mut single, mut double) = (false, false);
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += next;
        let count = bytes[at..].iter().take_while(|byte| **byte == b'\\').count();
        at += count;
        let name = command_name(&text[at..]);
        if is_command(name) {
            single |= count == 1 && !is_box(name);
            double |= count == 2;
        }
    }
    match (double, single) {
        (false, _) => Doubled::No,
        (true, true) => Doubled::Some,
        (true, false) => Doubled::All,
    }
}

fn is_box(name: &str) -> bool {
    matches!(name, "boxed" | "fbox")
}

fn command_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    &text[..end]
}

/// Copies a run of backslashes, halved where they are doubled, and gives what follows it.
fn backslashes<'a>(text: &'a str, doubled: Doubled, folded: &mut String) -> &'a str {
    let after = text.trim_start_matches('\\');
    let count = text.len() - after.len();
    let kept = match doubled {
        Doubled::No => count,
        Doubled::All => count.div_ceil(2),
        Doubled::Some if count == 2 && is_command(command_name(after)) => 1,
        Doubled::Some => count,
    };
    folded.extend(std::iter::repeat_n('\\', kept));
    after
}

fn run(text: &str, part: fn(char) -> Option<char>) -> (String, &str) {
    let end = text.find(|c| part(c).is_none()).unwrap_or(text.len());
    (text[..end].chars().filter_map(part).collect(), &text[end..])
}

fn raised(c: char) -> Option<char> {
    let digit = |first: u32| char::from_digit(c as u32 - first, 10);
    match c {
        '⁰' | '⁴'..='⁹' => digit('⁰' as u32),
        '¹' => Some('1'),
        '²' => Some('2'),
        '³' => Some('3'),
        '⁺' => Some('+'),
        '⁻' => Some('-'),
        '⁽' => Some('('),
        '⁾' => Some(')'),
        'ⁿ' => Some('n'),
        'ⁱ' => Some('i'),
        'ˣ' => Some('x'),
        _ => None,
    }
}

fn lowered(c: char) -> Option<char> {
    match c {
        '₀'..='₉' => char::from_digit(c as u32 - '₀' as u32, 10),
        'ₙ' => Some('n'),
        'ᵢ' => Some('i'),
        _ => None,
    }
}

fn push(c: char, folded: &mut String) {
    if c.is_ascii() {
        folded.push(c);
    } else if let Some(ascii) = styled(c) {
        folded.push(ascii);
    } else if let Some(written) = written(c) {
        folded.push_str(written);
    } else {
        folded.push(c);
    }
}

/// The ASCII character of a full-width or mathematically styled one.
fn styled(c: char) -> Option<char> {
    const LETTERS: u32 = 0x1D400;
    const DIGITS: u32 = 0x1D7CE;
    let code = c as u32;
    match code {
        0xFF01..=0xFF5E => char::from_u32(code - 0xFF01 + 0x21),
        LETTERS..=0x1D6A3 => {
            let place = ((code - LETTERS) % 52) as u8;
            Some(char::from(if place < 26 { b'A' + place } else { b'a' + place - 26 }))
        }
        DIGITS..=0x1D7FF => char::from_digit((code - DIGITS) % 10, 10),
        _ => None,
    }
}

fn written(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => " ",
        '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fe0f}' => "",
        '−' | '–' | '—' | '‒' | '‐' | '‑' | '﹣' => "-",
        '×' | '✕' | '⨯' => r"\times ",
        '·' | '∙' | '⋅' | '•' => r"\cdot ",
        '÷' => r"\div ",
        '∗' => "*",
        '∕' | '⁄' => "/",
        '∶' => ":",
        '≤' | '⩽' | '≦' => r"\le ",
        '≥' | '⩾' | '≧' => r"\ge ",
        '≠' => r"\ne ",
        '≈' | '≃' | '≅' => r"\approx ",
        '±' => r"\pm ",
        '∪' => r"\cup ",
        '∩' => r"\cap ",
        '∈' => r"\in ",
        '∖' => r"\setminus ",
        '∅' | 'Ø' => r"\emptyset ",
        '∞' => r"\infty ",
        'ℝ' => r"\mathbb{R}",
        'ℤ' => r"\mathbb{Z}",
        'ℕ' => r"\mathbb{N}",
        'ℚ' => r"\mathbb{Q}",
        'ℂ' => r"\mathbb{C}",
        '√' => r"\sqrt ",
        '∛' => r"\sqrt[3]",
        '∜' => r"\sqrt[4]",
        '⟨' | '〈' => r"\langle ",
        '⟩' | '〉' => r"\rangle ",
        '⌊' => r"\lfloor ",
        '⌋' => r"\rfloor ",
        '⌈' => r"\lceil ",
        '⌉' => r"\rceil ",
        '∠' => r"\angle ",
        '△' => r"\triangle ",
        '…' => r"\ldots ",
        '½' => r"\frac{1}{2}",
        '⅓' => r"\frac{1}{3}",
        '⅔' => r"\frac{2}{3}",
        '¼' => r"\frac{1}{4}",
        '¾' => r"\frac{3}{4}",
        '⅕' => r"\frac{1}{5}",
        '⅖' => r"\frac{2}{5}",
        '⅗' => r"\frac{3}{5}",
        '⅘' => r"\frac{4}{5}",
        '⅙' => r"\frac{1}{6}",
        '⅚' => r"\frac{5}{6}",
        '⅐' => r"\frac{1}{7}",
        '⅛' => r"\frac{1}{8}",
        '⅜' => r"\frac{3}{8}",
        '⅝' => r"\frac{5}{8}",
        '⅞' => r"\frac{7}{8}",
        '⅑' => r"\frac{1}{9}",
        '⅒' => r"\frac{1}{10}",
        'º' | '˚' => "°",
        '℃' => "°C",
        '℉' => "°F",
        '′' | '‘' | '’' => "'",
        '“' | '”' => "\"",
        '、' => ",",
        '。' => ".",
        '𝜋' | '𝝅' => "π",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_to_latex_and_ascii() {
        let check = |text: &str, folded: &str| assert_eq!(fold(text), folded, "{text}");
        check("５．２５", "5.25");
        check("𝑥² + 𝟑", "x^{2} + 3");
        check("10⁻³", "10^{-3}");
        check("x₁₂", "x_{12}");
        check("3½", r"3\frac{1}{2}");
        check(r"\\frac{1}{2}", r"\frac{1}{2}");
        check(r"\\left\\{ 1 \\right\\}", r"\left\{ 1 \right\}");
        check(r"\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}");
        check(r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}");
        check(
            r"\begin{pmatrix} 1 \\\frac12 \end{pmatrix}",
            r"\begin{pmatrix} 1 \\\frac12 \end{pmatrix}",
        );
        check(r"\frac12 \\ x", r"\frac12 \\ x");
        check(r"\boxed{\\pi\\;}", r"\boxed{\pi\;}");
        check(r"\boxed{\\{1, \\pi\\}}", r"\boxed{\{1, \pi\}}");
        check(r"\boxed{\pi \\ \\pi}", r"\boxed{\pi \\ \pi}");
        check(r"\\boxed{\\{1, 2\\}}", r"\boxed{\{1, 2\}}");
        assert!(matches!(fold(r"\frac12 \\ x"), Cow::Borrowed(_)));
    }
}
