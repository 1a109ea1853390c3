//! Puts together a prompt that begins a Python function and a response that continues it.
//!
//! A response that defines the function itself, or a class `Solution` that has it, is a whole program; it gets what stands before the
//! function in the prompt (imports, helper functions), which models rarely repeat. Anything else is
//! the function's body: it is indented if it is not, and ends before the first line that is no part
//! of it, since a model that only completes goes on writing.

/// The program as it is run.
pub(super) fn assemble(prompt: &str, entry_point: &str, code: &str) -> String {
    let has = |name: &&str| code.lines().any(|line| defines(line, name));
    // The function itself, or the class of LeetCode that has it as a method.
    if let Some(whole) = [entry_point, "Solution"].into_iter().find(has) {
        let (future, rest): (Vec<&str>, Vec<&str>) =
            code.lines().partition(|line| line.starts_with("from __future__ import"));
        let before: String =
            prompt.split_inclusive('\n').take_while(|line| !defines(line, whole)).collect();
        return format!("{}{before}\n{}\n", lines(&future), rest.join("\n"));
    }
    let end_of_prompt = if prompt.ends_with('\n') { "" } else { "\n" };
    format!("{prompt}{end_of_prompt}{}", body(code, indent_of_body(prompt)))
}

fn lines(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// Whether a line at the left margin gives the name its value.
fn defines(line: &str, name: &str) -> bool {
    let after = |start: &str| line.strip_prefix(start).and_then(|rest| rest.strip_prefix(name));
    let defined = ["def ", "async def ", "class "].into_iter().filter_map(after).next();
    match defined {
        Some(rest) => !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'),
        None => line.strip_prefix(name).is_some_and(|rest| {
            let rest = rest.trim_start();
            rest.starts_with('=') && !rest.starts_with("==")
        }),
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The indentation of the function's body: that of the prompt's last line, which belongs to the docstring,
/// or four columns.
fn indent_of_body(prompt: &str) -> usize {
    let last = prompt.lines().rfind(|line| !line.trim().is_empty()).map_or(0, indent);
    if last == 0 { 4 } else { last }
}

fn body(code: &str, width: usize) -> String {
    let all: Vec<&str> = code.lines().skip_while(|line| line.trim().is_empty()).collect();
    let Some(first) = all.first() else { return String::new() };
    let padding = " ".repeat(width);
    if indent(first) > 0 {
        let is_part = |line: &&&str| line.trim().is_empty() || indent(line) > 0;
        let kept: Vec<&str> = all.iter().take_while(is_part).copied().collect();
        return lines(&kept);
    }
    // Only the first line has lost its indent, as happens when a response is trimmed, where the next
    // one is indented further than its own block would be.
    let next = all[1..].iter().find(|line| !line.trim().is_empty()).map_or(0, |line| indent(line));
    let own_block = if first.trim_end().ends_with(':') { width + 1 } else { 1 };
    if next >= own_block {
        let is_part = |line: &&&str| line.trim().is_empty() || indent(line) > 0;
        let kept: Vec<&str> = all[1..].iter().take_while(is_part).copied().collect();
        return format!("{padding}{first}\n{}", lines(&kept));
    }
    all.iter().map(|line| format!("{padding}{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str =
        "import math\n\ndef helper(x):\n    return x\n\n\ndef f(a):\n    \"\"\" doc\n    \"\"\"\n";

    fn check(code: &str, expected: &str) {
        assert_eq!(assemble(PROMPT, "f", code), expected, "{code}");
    }

    fn body_check(code: &str, body: &str) {
        check(code, &format!("{PROMPT}{body}"));
    }

    #[test]
    fn a_whole_function_gets_what_stands_before_it() {
        let before = "import math\n\ndef helper(x):\n    return x\n\n\n";
        check("def f(a):\n    return 1\n", &format!("{before}\ndef f(a):\n    return 1\n"));
        check("f = lambda a: 1\n", &format!("{before}\nf = lambda a: 1\n"));
        check(
            "from __future__ import annotations\ndef f(a):\n    return 1",
            &format!("from __future__ import annotations\n{before}\ndef f(a):\n    return 1\n"),
        );
    }

    #[test]
    fn a_class_with_the_function_is_whole() {
        let prompt = "from typing import *\n\nclass Solution:\n    def f(self, a):\n";
        let code = "class Solution:\n    def f(self, a: List):\n        return 1";
        assert_eq!(assemble(prompt, "f", code), format!("from typing import *\n\n\n{code}\n"));
        assert_eq!(
            assemble("from typing import *\n", "f", code),
            format!("from typing import *\n\n{code}\n")
        );
    }

    #[test]
    fn a_body_continues_the_prompt() {
        body_check("    return a\n", "    return a\n");
        body_check("    b = a\n\n    return b\n\nprint(f(1))\n", "    b = a\n\n    return b\n\n");
    }

    #[test]
    fn a_body_at_the_margin_is_indented() {
        body_check("b = a\nreturn b\n", "    b = a\n    return b\n");
        body_check(
            "for b in a:\n    c = b\nreturn c",
            "    for b in a:\n        c = b\n    return c\n",
        );
    }

    #[test]
    fn a_first_line_that_lost_its_indent_gets_it_back() {
        body_check("b = a\n    return b\n", "    b = a\n    return b\n");
        body_check(
            "for b in a:\n        c = b\n    return c\nf(1)",
            "    for b in a:\n        c = b\n    return c\n",
        );
    }

    #[test]
    fn another_function_is_not_the_one_asked_for() {
        assert!(!defines("def find(a):", "f"));
        assert!(!defines("    def f(a):", "f"));
        assert!(!defines("f == 1", "f"));
        assert!(defines("async def f(a):", "f"));
    }
}
