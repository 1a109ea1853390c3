//! The last number of a text, with its sign, its thousands and the number that is joined to it.

#[derive(Clone, Copy)]
pub(super) struct LastNumber {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Digits alone, in groups such as `1 234 567`, to which another may belong.
    grouped: bool,
}

impl LastNumber {
    /// The number with its first digit at `at`: with a sign, a point, thousands before a space.
    pub(super) fn read(bytes: &[u8], at: usize, end: usize, before: Option<Self>) -> Self {
        let digits = bytes[at..end].iter().all(u8::is_ascii_digit);
        if let Some(before) = before {
            let joined = Self { end, ..before };
            let next = &bytes[before.end..at];
            if before.grouped && next == b" " && digits && end == at + 3 {
                return joined;
            }
            if before.is_whole(bytes) && next == b" " && is_proper_fraction(&bytes[at..end]) {
                return Self { grouped: false, ..joined };
            }
            // `12 or 13` is no single answer, nor is `x = 2 and x = 3`.
            if joins_numbers(&bytes[..before.start], next) {
                return Self { grouped: false, ..joined };
            }
        }
        let outside = |at: usize| {
            at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b')')
        };
        let mut start = at;
        if start > 0 && bytes[start - 1] == b'.' && outside(start - 1) {
            start -= 1;
        }
        let grouped = start == at && digits && end <= at + 3 && bytes[at] != b'0';
        if start > 0 && bytes[start - 1] == b'-' && outside(start - 1) {
            start -= 1;
        }
        Self { start, end, grouped }
    }

    fn is_whole(self, bytes: &[u8]) -> bool {
        let written = &bytes[self.start..self.end];
        let digits = written.strip_prefix(b"-").unwrap_or(written);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    }

    pub(super) fn text(self, text: &str) -> &str {
        text[self.start..self.end].trim_end_matches(['.', ',', '/'])
    }
}

/// Whether it is the fraction of a mixed number: the `1/2` of `1 1/2`.
fn is_proper_fraction(bytes: &[u8]) -> bool {
    let number = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse::<u32>().ok();
    let written = bytes.strip_suffix(b".").or(bytes.strip_suffix(b",")).unwrap_or(bytes);
    let mut parts = written.split(|byte| *byte == b'/').map(number);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(Some(over)), Some(Some(under)), None) => 0 < over && over < under,
        _ => false,
    }
}

/// Whether the text between two numbers is "or", or "and" where the first is stated, perhaps with a name: ` or x = `.
fn joins_numbers(before: &[u8], between: &[u8]) -> bool {
    let stated = || [&b"are "[..], b"is ", b"= ", b": "].iter().any(|word| before.ends_with(word));
    let or = [&b" or "[..], "或".as_bytes()].into_iter();
    let after = match or.filter_map(|or| between.strip_prefix(or)).next() {
        Some(after) => Some(after),
        None => between.strip_prefix(b" and ").filter(|_| stated()),
    };
    matches!(after, Some([] | [b'a'..=b'z', b'='] | [b'a'..=b'z', b' ', b'=', b' ']))
}

/// The length of the number that begins here, with its exponent and percent sign.
pub(super) fn number_length(bytes: &[u8]) -> usize {
    let part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'/');
    let mut length = bytes.iter().position(|byte| !part(byte)).unwrap_or(bytes.len());
    if let [b'e' | b'E', after @ ..] = &bytes[length..] {
        let sign = usize::from(matches!(after, [b'+' | b'-', ..]));
        let digits = after[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        length += if digits > 0 { 1 + sign + digits } else { 0 };
    }
    length + usize::from(bytes.get(length) == Some(&b'%'))
}
