//! Fenced blocks, as in CommonMark, with three concessions to what models write: a fence that names a
//! language inside an open block begins a new one (the first was never closed), a block of
//! Markdown is read for the blocks inside it, and a tag may stand before an opening fence or behind a closing one
//! (`</answer>`, `<|im_end|>`).

/// One block; blank ones are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The first word after the fence, in lower case; empty if there is none.
    pub name: String,
    pub content: String,
    pub closed: bool,
    /// The line of the opening fence, counted from 1.
    pub line: usize,
}

struct Open<'a> {
    mark: u8,
    length: usize,
    /// Columns before the fence.
    indent: usize,
    name: String,
    line: usize,
    content: Vec<&'a str>,
}

/// All blocks, in order. `is_language` knows the names of languages.
pub fn blocks(text: &str, is_language: impl Fn(&str) -> bool) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Open<'_>> = None;
    for (at, line) in text.lines().enumerate() {
        let Some(current) = &mut open else {
            open = Fence::read(behind_tag(line)).and_then(|fence| fence.opens(at + 1));
            continue;
        };
        let Some(fence) = Fence::read(line).filter(|fence| fence.mark == current.mark) else {
            current.content.push(line);
            continue;
        };
        let closes = fence.info.is_empty() || fence.info.starts_with('<');
        if closes && fence.length >= current.length {
            close(open.take(), true, &mut blocks);
        } else if fence.length == current.length && is_language(&fence.name()) {
            close(open.take(), false, &mut blocks);
            open = fence.opens(at + 1);
        } else {
            current.content.push(line);
        }
    }
    close(open, false, &mut blocks);
    blocks
}

/// The rest of a line after a tag such as `<answer>`, if that is a fence; else the whole line.
fn behind_tag(line: &str) -> &str {
    let tag_end = line.trim_start().strip_prefix('<').and_then(|tag| tag.split_once('>'));
    match tag_end {
        Some((tag, rest)) if !tag.contains('<') && Fence::read(rest).is_some() => rest,
        _ => line,
    }
}

fn close(open: Option<Open<'_>>, closed: bool, blocks: &mut Vec<Block>) {
    let Some(open) = open else { return };
    if open.content.iter().all(|line| line.trim().is_empty()) {
        return;
    }
    let mut content = String::new();
    for line in open.content {
        content.push_str(without_indent(line, open.indent));
        content.push('\n');
    }
    blocks.push(Block { name: open.name, content, closed, line: open.line });
}

/// A block in a list is indented as a whole.
fn without_indent(line: &str, indent: usize) -> &str {
    let mut column = 0;
    for (at, byte) in line.bytes().enumerate() {
        let next = column_after(byte, column);
        if next.is_none_or(|next| next > indent) {
            return &line[at..];
        }
        column = next.unwrap_or(column);
    }
    ""
}

/// The column after a space, or after a tab that leads to a multiple of four; `None` for anything else.
fn column_after(byte: u8, column: usize) -> Option<usize> {
    match byte {
        b' ' => Some(column + 1),
        b'\t' => Some((column / 4 + 1) * 4),
        _ => None,
    }
}

struct Fence<'a> {
    mark: u8,
    length: usize,
    indent: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let trimmed = line.trim_start_matches([' ', '\t']);
        let blank = line[..line.len() - trimmed.len()].bytes();
        let indent = blank.fold(0, |column, byte| column_after(byte, column).unwrap_or(column));
        let mark = *trimmed.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = trimmed.bytes().take_while(|byte| *byte == mark).count();
        let info = trimmed[length..].trim();
        let is_fence = length >= 3 && !(mark == b'`' && info.contains('`'));
        is_fence.then_some(Self { mark, length, indent, info })
    }

    /// `python`, `{.python .numberLines}`, `cpp title="a.cpp"` and `Python:main.py` all name one.
    fn name(&self) -> String {
        let word = self.info.trim_start_matches(['{', '.', ' ']);
        let end = word.find(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | ',' | ':'));
        word[..end.unwrap_or(word.len())].to_ascii_lowercase()
    }

    fn opens(&self, line: usize) -> Option<Open<'a>> {
        let name = self.name();
        if matches!(name.as_str(), "markdown" | "md") {
            return None;
        }
        let (mark, length, indent) = (self.mark, self.length, self.indent);
        Some(Open { mark, length, indent, name, line, content: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str, bool)]) {
        let blocks = blocks(text, |name| matches!(name, "python" | "cpp"));
        let found: Vec<_> = blocks
            .iter()
            .map(|block| (block.name.as_str(), block.content.as_str(), block.closed))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn reads_blocks_as_commonmark_does() {
        check("no block", &[]);
        check("```python\na\n```", &[("python", "a\n", true)]);
        check("~~~ cpp\na\n```\nb\n~~~", &[("cpp", "a\n```\nb\n", true)]);
        check("````\n```\na\n```\n````", &[("", "```\na\n```\n", true)]);
        check("```\na\n````", &[("", "a\n", true)]);
        check("````python\na\n```", &[("python", "a\n```\n", false)]);
        check("```python\r\na\r\n```\r\n", &[("python", "a\n", true)]);
        check("``` a`b ```\n", &[]);
        check("``\na\n``", &[]);
    }

    #[test]
    fn names_are_the_first_word() {
        for info in ["Python", "python title=\"a\"", "{.python}", "python:main.py", " python "] {
            check(&format!("```{info}\na\n```"), &[("python", "a\n", true)]);
        }
    }

    #[test]
    fn an_indented_block_loses_its_indent() {
        check(
            "1. so\n   ```python\n   if a:\n       b\n\n   ```",
            &[("python", "if a:\n    b\n\n", true)],
        );
        check(
            "1. so\n\t```python\n\tif a:\n\t\tb\n    c\n\t```",
            &[("python", "if a:\n\tb\nc\n", true)],
        );
    }

    #[test]
    fn an_unclosed_block_ends_with_the_text_or_the_next_language() {
        check("```python\na", &[("python", "a\n", false)]);
        check("```python\na\n```cpp\nb\n```", &[("python", "a\n", false), ("cpp", "b\n", true)]);
        check(
            "```python\n\"\"\"\n```text\n\"\"\"\n```",
            &[("python", "\"\"\"\n```text\n\"\"\"\n", true)],
        );
    }

    #[test]
    fn a_tag_beside_a_fence_is_no_part_of_the_block() {
        for end in ["</answer>", "<|im_end|>", "</s>", " <eos>"] {
            check(&format!("<answer>```python\na\n```{end}"), &[("python", "a\n", true)]);
            check(&format!("```python\na\n```{end}\nb"), &[("python", "a\n", true)]);
        }
        check("a < b > ```python\nc\n```", &[]);
        check("<a<b>```python\nc\n```", &[]);
    }

    #[test]
    fn markdown_is_looked_into_and_blank_blocks_are_none() {
        check("```markdown\n# so\n```python\na\n```\n```\n", &[("python", "a\n", true)]);
        check("```\n\n```", &[]);
    }
}
