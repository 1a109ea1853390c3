//! Finds the final answer in a response, in one pass from front to back.
//!
//! In this order: the last `\boxed` (or `\fbox`); the text after the last mark (`####`, `A:`,
//! `Answer:`, "answer is"); the last formula (`$...$`, `\(...\)`); the last number. A box that is
//! never closed is a response cut short: then there is no answer, rather than a part of one.

/// The place in which an answer was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Boxed,
    /// The text after a mark, up to the end of its sentence.
    Marked(&'static str),
    Formula,
    LastNumber,
}

impl Source {
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Boxed => "the last \\boxed",
            Self::Marked(mark) => mark,
            Self::Formula => "the last formula",
            Self::LastNumber => "the last number",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub(crate) text: &'a str,
    pub(crate) source: Source,
}

/// The best answer there is.
pub(crate) fn find(response: &str) -> Option<Found<'_>> {
    let marks = scan(response);
    if let Some(start) = marks.boxed {
        let text = box_content(&response[start..])?;
        return Some(Found { text, source: Source::Boxed });
    }
    let marked = marks.mark.map(|(start, name)| (sentence(&response[start..]), name));
    if let Some((text, name)) = marked.filter(|(text, _)| !text.is_empty()) {
        return Some(Found { text, source: Source::Marked(name) });
    }
    marks.formula_or_number(response)
}

/// The last formula of a sentence, else its last number.
pub(crate) fn find_inside(sentence: &str) -> Option<Found<'_>> {
    scan(sentence).formula_or_number(sentence)
}

/// The last of each kind, as byte offsets.
#[derive(Default)]
struct Marks {
    boxed: Option<usize>,
    mark: Option<(usize, &'static str)>,
    formula: Option<(usize, usize)>,
    number: Option<(usize, usize)>,
}

impl Marks {
    fn formula_or_number<'a>(&self, text: &'a str) -> Option<Found<'a>> {
        let formula = self.formula.map(|(start, end)| text[start..end].trim());
        if let Some(text) = formula.filter(|formula| !formula.is_empty()) {
            return Some(Found { text, source: Source::Formula });
        }
        let (start, end) = self.number?;
        let number = text[start..end].trim_end_matches(['.', ',', '/']);
        Some(Found { text: number, source: Source::LastNumber })
    }
}

fn scan(text: &str) -> Marks {
    let bytes = text.as_bytes();
    let mut marks = Marks::default();
    let mut formula_start: Option<usize> = None;
    let mut at = 0;
    // Only ASCII bytes are looked for, so every offset kept is a character boundary.
    while at < bytes.len() {
        let rest = &bytes[at..];
        match bytes[at] {
            b'\\' => {
                let box_name = [&b"\\boxed"[..], b"\\fbox"].into_iter().find(|name| {
                    rest.starts_with(name)
                        && !rest.get(name.len()).is_some_and(u8::is_ascii_alphabetic)
                });
                if let Some(name) = box_name {
                    marks.boxed = Some(at + name.len());
                }
                match rest.get(1) {
                    Some(b'(' | b'[') => formula_start = Some(at + 2),
                    Some(b')' | b']') => {
                        marks.formula =
                            formula_start.take().map(|start| (start, at)).or(marks.formula);
                    }
                    _ => {}
                }
                // What follows a backslash is part of the command: `\$` opens nothing.
                at += 1 + usize::from(
                    rest.get(1).is_some_and(|byte| byte.is_ascii() && *byte != b'\\'),
                );
                continue;
            }
            b'$' => {
                formula_start = match formula_start {
                    Some(start) => {
                        marks.formula = (start < at).then_some((start, at)).or(marks.formula);
                        // `$$` closes once.
                        (start == at).then_some(at + 1)
                    }
                    None => Some(at + 1),
                };
            }
            b'\n' if rest.get(1) == Some(&b'\n') => formula_start = None,
            b'#' if rest.starts_with(b"####") && !is_heading(&rest[4..]) => {
                marks.mark = Some((at + 4, "the last ####"))
            }
            b':' | b'=' | b's' | b'S' => {
                if let Some(name) = mark_ending_at(bytes, at) {
                    marks.mark = Some((at + 1, name));
                }
            }
            b'0'..=b'9' => {
                let end = at + number_length(rest);
                let signed = at > 0
                    && bytes[at - 1] == b'-'
                    && !(at > 1
                        && (bytes[at - 2].is_ascii_alphanumeric() || bytes[at - 2] == b')'));
                marks.number = Some((at - usize::from(signed), end));
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    marks
}

/// `#### Step 3` is a heading of Markdown; `#### 18`, `#### x = 5` and `#### yes` are answers.
fn is_heading(after: &[u8]) -> bool {
    let line = after.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let letters = line.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    letters > 2 && letters < line.len() && matches!(line[letters], b' ' | b':')
}

/// The mark whose last byte stands at `at`.
fn mark_ending_at(bytes: &[u8], at: usize) -> Option<&'static str> {
    let before = &bytes[..at];
    if bytes[at] == b's' || bytes[at] == b'S' {
        let ends = ends_with_word(before, b"answer i") && !next_is_letter(bytes, at);
        return ends.then_some("the last \"answer is\"");
    }
    let trimmed = trim_end(before, b"* ");
    if ends_with_word(trimmed, b"answer") {
        return Some("the last \"Answer:\"");
    }
    let lone = bytes[at] == b':' && trimmed.ends_with(b"A");
    let bounded = trimmed.len() < 2 || !trimmed[trimmed.len() - 2].is_ascii_alphanumeric();
    (lone && bounded).then_some("the last A:")
}

fn next_is_letter(bytes: &[u8], at: usize) -> bool {
    bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
}

fn trim_end<'a>(mut bytes: &'a [u8], set: &[u8]) -> &'a [u8] {
    while let [rest @ .., last] = bytes
        && set.contains(last)
    {
        bytes = rest;
    }
    bytes
}

fn ends_with_word(bytes: &[u8], word: &[u8]) -> bool {
    let Some(start) = bytes.len().checked_sub(word.len()) else { return false };
    let bounded = start == 0 || !bytes[start - 1].is_ascii_alphanumeric();
    bounded && bytes[start..].eq_ignore_ascii_case(word)
}

fn number_length(bytes: &[u8]) -> usize {
    let part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'/');
    let length = bytes.iter().position(|byte| !part(byte)).unwrap_or(bytes.len());
    length + usize::from(bytes.get(length) == Some(&b'%'))
}

/// The content of the braces after `\boxed`, nested ones included; without braces, the text up to the next
/// white space. `None` if the braces never close.
fn box_content(after: &str) -> Option<&str> {
    let after = after.trim_start_matches([' ', '\t', '*']);
    let Some(inner) = after.strip_prefix('{') else {
        let end = after.find(|c: char| c.is_whitespace() || c == '$').unwrap_or(after.len());
        return Some(trim(&after[..end])).filter(|text| !text.is_empty());
    };
    let mut depth = 1_u32;
    let mut escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'\\' => escaped = !escaped,
            _ if escaped => escaped = false,
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(inner[..at].trim());
                }
            }
            _ => {}
        }
    }
    None
}

/// The text after a mark, up to the end of the sentence or line; an empty first line is skipped.
fn sentence(after: &str) -> &str {
    let decoration = |c: char| c.is_whitespace() || matches!(c, ':' | '*' | '=' | '_' | '`');
    let after = after.trim_start_matches(decoration);
    let bytes = after.as_bytes();
    let end = (0..bytes.len()).find(|&at| match bytes[at] {
        b'\n' => true,
        b'.' => bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace),
        _ => false,
    });
    trim(&after[..end.unwrap_or(after.len())])
}

fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`' | '_'))
        .trim_end_matches(['.', ',', ';', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(response: &str, expected: Option<(&str, Source)>) {
        let found = find(response).map(|found| (found.text, found.source));
        assert_eq!(found, expected, "{response}");
    }

    #[test]
    fn finds_the_answer_where_models_put_it() {
        let marked = |text, mark| Some((text, Source::Marked(mark)));
        let (answer, is, hashes) =
            ("the last \"Answer:\"", "the last \"answer is\"", "the last ####");
        check(r"so \boxed{1} or \boxed{\frac{1}{2}}.", Some((r"\frac{1}{2}", Source::Boxed)));
        check(r"\boxed{\boxed{5}}", Some(("5", Source::Boxed)));
        check(r"\boxed 42.", Some(("42", Source::Boxed)));
        check(r"$\fbox{7}$ and 9", Some(("7", Source::Boxed)));
        check(r"\boxed{\{1, 2\}}", Some((r"\{1, 2\}", Source::Boxed)));
        check(r"\boxed{12", None);
        check("a\n#### 1,234", marked("1,234", hashes));
        check("#### Step 3\nThus $x = 5$", Some(("x = 5", Source::Formula)));
        check("#### Step 3: sum\n#### yes", marked("yes", hashes));
        check("A: 5\nA: 18", marked("18", "the last A:"));
        check("**Answer**: 3.14.", marked("3.14", answer));
        check("**Final Answer:**\n\n**12**", marked("12", answer));
        check("The answer is $\\frac12$. Done.", marked("$\\frac12$", is));
        check("the ANSWER IS: 4", marked("4", is));
        check("The answer isn't known, 4 say", Some(("4", Source::LastNumber)));
        check("DNA: 5", Some(("5", Source::LastNumber)));
        check(r"we get $x$ so $x = 5$ here", Some(("x = 5", Source::Formula)));
        check(r"we get $$x = 6$$", Some(("x = 6", Source::Formula)));
        check(r"we get \(x = 7\).", Some(("x = 7", Source::Formula)));
        check("costs $5 and 12.50.", Some(("12.50", Source::LastNumber)));
        check("it is -3/4.", Some(("-3/4", Source::LastNumber)));
        check("10-3", Some(("3", Source::LastNumber)));
        check("about 50%", Some(("50%", Source::LastNumber)));
        check("no idea", None);
        check("", None);
    }
}
