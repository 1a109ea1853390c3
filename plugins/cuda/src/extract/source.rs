//! CUDA C++ as far as a text shows it: what it includes and defines. Comments, the insides of strings
//! and preprocessor lines count for nothing, so that nothing is taken for code that is none.

/// The signature of a host function, as its declaration shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) takes_tensors: bool,
}

/// The most bytes between the quote and the parenthesis of a raw string, by the standard of C++.
const DELIMITER_BYTES_MAX: usize = 16;

pub(super) struct Source<'a> {
    text: &'a str,
    /// The text with comments and the insides of strings blanked; it has the same length, and quotes stay.
    masked: String,
    tokens: Vec<&'a str>,
    /// For each token that is an opening parenthesis, the place after the one that closes it.
    behind: Vec<Option<usize>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let masked = masked(text);
        let tokens = tokens(text, &masked);
        let behind = closed(&tokens);
        Self { text, masked, tokens, behind }
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.tokens.contains(&word)
    }

    /// Paths of `#include`.
    pub(super) fn includes(&self) -> Vec<&'a str> {
        let lines = self.text.split('\n').zip(self.masked.split('\n'));
        let path = |(line, masked): (&'a str, &str)| {
            let directive = masked.trim_start().strip_prefix('#')?.trim_start();
            directive.strip_prefix("include")?;
            let begin = line.find(['<', '"'])? + 1;
            let length = line[begin..].find(['>', '"'])?;
            Some(line[begin..begin + length].trim())
        };
        lines.filter_map(path).collect()
    }

    /// Names of all kernels that are declared.
    pub(super) fn kernels(&self) -> Vec<&'a str> {
        let starts = self.tokens.iter().enumerate().filter(|(_, token)| **token == "__global__");
        starts.filter_map(|(at, _)| self.kernel_name(at + 1)).collect()
    }

    fn kernel_name(&self, mut at: usize) -> Option<&'a str> {
        loop {
            let token = *self.tokens.get(at)?;
            let called = self.tokens.get(at + 1) == Some(&"(");
            match token {
                // The name behind the next `__global__` is that kernel's.
                ";" | "{" | "}" | ")" | "__global__" => return None,
                "(" => at = self.behind[at]?,
                _ if !called || !is_word(token) => at += 1,
                "decltype" | "alignas" => at += 1,
                // `__launch_bounds__(...)` and its like.
                _ if token.starts_with("__") && token.ends_with("__") => at += 1,
                _ => return Some(token),
            }
        }
    }

    /// A function of this name with a body that is no kernel and no device function.
    pub(super) fn host_function(&self, name: &str) -> Option<Signature> {
        let named = self.tokens.iter().enumerate().filter(|(_, token)| **token == name);
        named.filter_map(|(at, _)| self.host_function_at(at)).next()
    }

    fn host_function_at(&self, at: usize) -> Option<Signature> {
        if self.tokens.get(at + 1) != Some(&"(") {
            return None;
        }
        let behind = self.behind[at + 1]?;
        // `noexcept`, or a type behind an arrow.
        let body = self.tokens[behind..]
            .iter()
            .find(|token| !is_word(token) && !matches!(**token, "-" | ">" | "<" | ":" | "*" | "&"));
        if body != Some(&"{") {
            return None;
        }
        let begin = self.tokens[..at].iter().rposition(|token| matches!(*token, ";" | "{" | "}"));
        let head = &self.tokens[begin.map_or(0, |begin| begin + 1)..at];
        let is_device = head.contains(&"__device__") && !head.contains(&"__host__");
        if head.is_empty() || head.contains(&"__global__") || is_device {
            return None;
        }
        let takes_tensors = head.contains(&"Tensor") || self.tokens[at..behind].contains(&"Tensor");
        Some(Signature { takes_tensors })
    }

    /// Names that a `PYBIND11_MODULE` gives to functions.
    pub(super) fn bound_names(&self) -> Vec<String> {
        let calls = self.tokens.windows(4).filter(|four| four[..3] == [".", "def", "("]);
        let name = |four: &[&str]| Some(four[3].strip_prefix('"')?.strip_suffix('"')?.to_owned());
        calls.filter_map(name).collect()
    }
}

/// For each token the place after the parenthesis that closes it, where it opens one that is closed.
fn closed(tokens: &[&str]) -> Vec<Option<usize>> {
    let mut behind = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" => open.push(at),
            ")" => {
                if let Some(opened) = open.pop() {
                    behind[opened] = Some(at + 1);
                }
            }
            _ => {}
        }
    }
    behind
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Words, strings with their quotes, and single other characters; no preprocessor lines.
fn tokens<'a>(text: &'a str, masked: &str) -> Vec<&'a str> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut begins_line = true;
    while let Some(next) = masked[at..].chars().next() {
        let rest = &masked[at..];
        let length = if next.is_whitespace() {
            begins_line |= next == '\n';
            at += next.len_utf8();
            continue;
        } else if next == '#' && begins_line {
            at += directive_length(rest);
            continue;
        } else if next.is_alphanumeric() || next == '_' {
            rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
        } else if next == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            next.len_utf8()
        };
        tokens.push(&text[at..at + length]);
        begins_line = false;
        at += length;
    }
    tokens
}

/// The bytes of a preprocessor directive: up to the end of its line, or of the lines on which it continues.
fn directive_length(rest: &str) -> usize {
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
    }
    length
}

/// Comments and the insides of strings as blanks, byte by byte.
fn masked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        // The end of the blanked text, and the bytes at its ends that stay.
        let (end, kept) = if rest.starts_with(b"//") {
            (at + find(rest, b"\n").unwrap_or(rest.len()), 0)
        } else if rest.starts_with(b"/*") {
            (at + find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4), 0)
        } else if rest.starts_with(b"R\"") {
            (at + raw_string_length(rest), 2)
        } else if rest[0] == b'"' || (rest[0] == b'\'' && !is_separator(bytes, at)) {
            (at + quoted_length(rest), 1)
        } else {
            at += 1;
            continue;
        };
        let first = at + kept;
        // A string that is never closed ends in anything, perhaps in a part of a character.
        let is_closed = kept > 0 && end > first && matches!(bytes[end - 1], b'"' | b'\'');
        let last = if is_closed { end - 1 } else { end };
        for byte in out.iter_mut().take(last).skip(first).filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
        at = end;
    }
    String::from_utf8(out).expect("only whole characters between ASCII ones are blanked")
}

/// The apostrophe of `1'000`.
fn is_separator(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at - 1].is_ascii_alphanumeric()
}

/// The bytes of a quoted text with both quotes; an unclosed one ends with its line.
fn quoted_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'\n' {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == rest[0] => return at + 1,
            _ => at += 1,
        }
    }
    at.min(rest.len())
}

fn raw_string_length(rest: &[u8]) -> usize {
    let first = &rest[..rest.len().min(2 + DELIMITER_BYTES_MAX + 1)];
    let Some(open) = find(first, b"(") else { return 2 };
    let closing = [b")", &rest[2..open], b"\""].concat();
    find(&rest[open..], &closing).map_or(rest.len(), |end| open + end + closing.len())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_blank() {
        let check = |text: &str, expected: &str| assert_eq!(masked(text), expected, "{text}");
        check("a // b\nc", "a     \nc");
        check("a /* b\n */ c", "a     \n    c");
        check(r#"f("a\"b", 'x')"#, r#"f("    ", ' ')"#);
        check("1'000 + 'a'", "1'000 + ' '");
        check(r#"R"x(a" )" // )x" b"#, r#"R"             " b"#);
        check(r#"R"a longer delimiter(" b"#, r#"R"a longer delimiter("  "#);
        check("\"open\nb", "\"    \nb");
        check("// ü", "     ");
        check("\"abcü", "\"     ");
        check("\"\\ü", "\"   ");
        check("/* open", "       ");
        check("R\"(open", "R\"     ");
    }

    #[test]
    fn kernels_are_found_by_name() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(Source::new(text).kernels(), expected, "{text}");
        };
        check("__global__ void f(int a) {}", &["f"]);
        check("extern \"C\" __global__ void __launch_bounds__(256, 2) f(int a) {}", &["f"]);
        check("template <int n> __global__ static void f(float (&a)[n]);", &["f"]);
        check("__global__ void __attribute__((weak)) f() {}\n__global__ void g() {}", &["f", "g"]);
        check("// __global__ void f() {}\nvoid g() {}", &[]);
        check("const char* a = \"__global__ void f() {}\";", &[]);
        check("#define K __global__ void \\\n f() {}\n__global__ void g() {}", &["g"]);
        check("__global__", &[]);
        check("__global__ void f", &[]);
        check("g(__global__ void) f();", &[]);
    }

    /// Reading one in a time that grows with the square of its length takes minutes.
    #[test]
    fn a_long_text_is_read_at_once() {
        for unit in ["R\"", "f(", "f() ", "__global__ ", "__global__ ("] {
            let text = unit.repeat(100_000);
            let source = Source::new(&text);
            assert_eq!(source.kernels().len(), 0, "{unit}");
            assert_eq!(source.host_function("f").map(|found| found.takes_tensors), None, "{unit}");
        }
    }

    #[test]
    fn host_functions_are_definitions_of_no_kernel() {
        let check = |text: &str, expected: Option<bool>| {
            let found = Source::new(text).host_function("f");
            assert_eq!(found.map(|signature| signature.takes_tensors), expected, "{text}");
        };
        check("extern \"C\" void f(int a) { g(); }", Some(false));
        check("extern \"C\" {\nvoid f(int a) noexcept {} }", Some(false));
        check("auto f(int a) -> int { return a; }", Some(false));
        check("torch::Tensor f(int64_t n) { }", Some(true));
        check("void f(const at::Tensor& x) { }", Some(true));
        check("__host__ __device__ void f() {}", Some(false));
        check("void f(int a);", None);
        check("__global__ void f(int a) {}", None);
        check("__device__ float f(float a) { return a; }", None);
        check("int main() { if (f(1)) { } f(2); }", None);
        check("void g() { f(1) { } }", None);
        check("void f(", None);
        check("/* void f() {} */", None);
    }

    #[test]
    fn includes_and_bound_names_are_read() {
        let text = "#include <a.h>\n  # include \"b/c.h\"\n// #include <d.h>\n\
                    PYBIND11_MODULE(X, m) { m.def(\"one\", &f); m.def(\"two\", &g, \"doc\"); }";
        let source = Source::new(text);
        assert_eq!(source.includes(), ["a.h", "b/c.h"]);
        assert_eq!(source.bound_names(), ["one", "two"]);
        assert!(source.has("PYBIND11_MODULE") && !source.has("d"));
    }
}
