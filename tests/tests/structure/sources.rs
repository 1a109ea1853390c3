//! Source files, read by words: comments, texts and test modules left out.

use std::{fs, path::Path};

/// Folders that hold sources; `target` and what others generated lie elsewhere.
const FOLDERS: &[&str] = &["host", "sdk", "plugins", "bench", "tests"];

pub(crate) struct Source {
    /// Relative to the checkout, with `/`.
    pub(crate) path: String,
    /// How many lines the file has, its test module left out.
    pub(crate) lines: usize,
    /// The same lines without comments and texts.
    code: String,
    /// The lines on which a doc comment begins, with the first line of its text.
    docs: Vec<(usize, String)>,
}

/// Every source of the checkout that is not a test.
pub(crate) fn of_checkout(root: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    for folder in FOLDERS {
        collect(root, &root.join(folder), &mut sources);
    }
    sources
}

fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).expect("a folder of the checkout").flatten() {
        let path = entry.path();
        let relative =
            path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
        if relative.contains("/target") || relative.ends_with("/generated") {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, sources);
        } else if relative.contains("/src/") && relative.ends_with(".rs") && !is_test(&relative) {
            let text = fs::read_to_string(&path).expect("sources are UTF-8");
            sources.push(Source::new(&relative, &text));
        }
    }
}

fn is_test(path: &str) -> bool {
    let inside = path.split_once("/src/").map_or("", |(_, inside)| inside);
    inside.ends_with("tests.rs") || inside.contains("tests/")
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        // A module declared elsewhere in the file would hide what follows it.
        let end = text.find("\n#[cfg(test)]\nmod tests {").map_or(text.len(), |at| at + 1);
        let kept = &text[..end];
        let code = kept.lines().map(without_comments_and_texts).collect::<Vec<_>>().join("\n");
        let docs = doc_beginnings(kept);
        Self { path: path.to_owned(), lines: kept.lines().count(), code, docs }
    }

    /// The package's folder, such as `host/sched`.
    pub(crate) fn package(&self) -> &str {
        self.path.split("/src/").next().expect("a text has a first part")
    }

    /// The lines on which a doc comment begins, with the first line of its text.
    pub(crate) fn docs(&self) -> impl Iterator<Item = (usize, &str)> {
        self.docs.iter().map(|(line, text)| (*line, text.as_str()))
    }

    /// The names of the types and traits that are defined here, without those that a trait asks for.
    pub(crate) fn types(&self) -> impl Iterator<Item = &str> {
        self.code.lines().filter_map(type_name)
    }

    /// The lines where a word or path stands by itself.
    pub(crate) fn uses_of<'a>(&self, word: &'a str) -> Vec<(usize, &'a str)> {
        let name_ends = |letter: Option<char>| letter.is_none_or(|letter| !is_of_a_name(letter));
        let stands_alone = |at: &usize| {
            let after = self.code[at + word.len()..].chars().next();
            name_ends(self.code[..*at].chars().next_back())
                && (name_ends(after) || word.ends_with('!'))
        };
        let found = self.code.match_indices(word).map(|(at, _)| at);
        found.filter(stands_alone).map(|at| (self.line_of(at), word)).collect()
    }

    /// The first names of all paths below `path`, such as `limits` and `id` of `crate::{limits, id::X}`
    /// below `crate`.
    pub(crate) fn paths_below(&self, path: &str) -> Vec<String> {
        let path = format!("{path}::");
        let starts = self.code.match_indices(&path).filter(|(at, _)| {
            let before = self.code[..*at].chars().next_back();
            before.is_none_or(|letter| !is_of_a_name(letter) && letter != ':')
        });
        starts.flat_map(|(at, _)| first_names(&self.code[at + path.len()..])).collect()
    }

    fn line_of(&self, at: usize) -> usize {
        self.code[..at].matches('\n').count() + 1
    }
}

fn doc_beginnings(text: &str) -> Vec<(usize, String)> {
    let doc = |line: &str| {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        Some(text.trim().to_owned())
    };
    let mut beginnings = Vec::new();
    let mut is_inside = false;
    for (at, line) in text.lines().enumerate() {
        let text = doc(line);
        beginnings.extend(text.clone().filter(|_| !is_inside).map(|text| (at + 1, text)));
        is_inside = text.is_some();
    }
    beginnings
}

fn type_name(line: &str) -> Option<&str> {
    let is_indented = line.starts_with(' ');
    let mut words = line.split_whitespace().peekable();
    while words.next_if(|word| word.starts_with("pub") || *word == "unsafe").is_some() {}
    match words.next()? {
        "struct" | "enum" | "trait" => {}
        "type" if !is_indented => {}
        _ => return None,
    }
    let name = words.next()?.split(|letter| !is_of_a_name(letter)).next()?;
    (!name.is_empty()).then_some(name)
}

/// The name at the beginning of a path, or those of a group in braces.
fn first_names(rest: &str) -> Vec<String> {
    let name = |text: &str| text.trim_start().chars().take_while(|c| is_of_a_name(*c)).collect();
    let Some(group) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let (mut names, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(name(&group[start..at]));
                start = at + 1;
                if letter == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

fn is_of_a_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Good enough for one line: a text over several lines is taken for code, which errs on the safe side.
fn without_comments_and_texts(line: &str) -> String {
    let mut code = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    let mut in_text = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if in_text => {
                letters.next();
            }
            // A quotation mark as a letter opens nothing.
            '"' if code.ends_with('\'') && letters.peek() == Some(&'\'') => {}
            '"' => in_text = !in_text,
            '/' if !in_text && letters.peek() == Some(&'/') => break,
            _ if !in_text => code.push(letter),
            _ => {}
        }
    }
    code
}
