//! Cuts off what a model thought before it answered.

const CLOSING: [&str; 2] = ["</think>", "</thinking>"];
const OPENING: [&str; 2] = ["<think>", "<thinking>"];

/// What follows the last closing tag; `None` where the response only thinks.
pub(super) fn cut(response: &str) -> Option<&str> {
    let end = CLOSING
        .iter()
        .filter_map(|tag| response.rfind(tag).map(|at| at + tag.len()))
        .max()
        .unwrap_or(0);
    let answer = &response[end..];
    let thinks = OPENING.iter().any(|tag| answer.trim_start().starts_with(tag));
    (!thinks).then_some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_is_left() {
        assert_eq!(cut("plain"), Some("plain"));
        assert_eq!(cut("<think>a</think>b"), Some("b"));
        assert_eq!(cut("the template opened it</think>b"), Some("b"));
        assert_eq!(cut("<think>a</think>b<think>c</think>d"), Some("d"));
        assert_eq!(cut("<thinking>a</thinking>\nb"), Some("\nb"));
        assert_eq!(cut(" <think>cut short"), None);
        assert_eq!(cut("<think>a</think><think>cut short"), None);
        assert_eq!(cut("the tag <think> is a word"), Some("the tag <think> is a word"));
    }
}
