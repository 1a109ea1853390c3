//! Python's words, strings and marks, as far as literals are concerned.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    /// The value of a string literal; `None` where it is put together at run time.
    Text(Option<String>),
    Mark(char),
    /// The end of a line, outside of strings.
    Line,
}

/// Each with the byte behind its end; without comments.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, String> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = match next {
            '\n' => (Some(Token::Line), 1),
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            '\\' if rest[1..].starts_with('\n') => (None, 2),
            _ if next.is_whitespace() => (None, next.len_utf8()),
            '"' | '\'' => {
                let (value, length) = string("", rest)?;
                (Some(Token::Text(value)), length)
            }
            _ if next.is_alphanumeric() || next == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                let word = &rest[..end.unwrap_or(rest.len())];
                let behind = &rest[word.len()..];
                if is_prefix(word) && behind.starts_with(['"', '\'']) {
                    let (value, length) = string(word, behind)?;
                    (Some(Token::Text(value)), word.len() + length)
                } else {
                    (Some(Token::Word(word.to_owned())), word.len())
                }
            }
            mark => (Some(Token::Mark(mark)), mark.len_utf8()),
        };
        at += length;
        tokens.extend(token.map(|token| (token, at)));
    }
    Ok(tokens)
}

fn is_prefix(word: &str) -> bool {
    matches!(word.to_ascii_lowercase().as_str(), "r" | "f" | "b" | "u" | "rf" | "fr" | "rb" | "br")
}

/// The value of a literal that begins here, and its length.
fn string(prefix: &str, rest: &str) -> Result<(Option<String>, usize), String> {
    let prefix = prefix.to_ascii_lowercase();
    let (raw, formatted) = (prefix.contains('r'), prefix.contains(['f', 'b']));
    let quote = &rest[..1];
    let triple = quote.repeat(3);
    let closing = if rest.starts_with(&triple) { triple.as_str() } else { quote };
    let mut value = String::new();
    let mut at = closing.len();
    loop {
        let Some(next) = rest[at..].chars().next() else {
            return Err("a string is not closed".into());
        };
        if rest[at..].starts_with(closing) {
            return Ok(((!formatted).then_some(value), at + closing.len()));
        }
        if next == '\n' && closing.len() == 1 {
            return Err("a string is not closed on its line".into());
        }
        at += next.len_utf8();
        if next != '\\' {
            value.push(next);
            continue;
        }
        let Some(escaped) = rest[at..].chars().next() else {
            return Err("a string is not closed".into());
        };
        at += escaped.len_utf8();
        match escaped {
            _ if raw => value.extend(['\\', escaped]),
            '\n' => {}
            'n' => value.push('\n'),
            't' => value.push('\t'),
            'r' => value.push('\r'),
            '0' => value.push('\0'),
            '\\' | '"' | '\'' => value.push(escaped),
            // Python keeps a backslash that begins nothing; those that begin a number are for no source.
            other => value.extend(['\\', other]),
        }
    }
}
