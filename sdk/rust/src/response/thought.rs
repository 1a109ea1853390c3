//! Cuts off what a model thought before it answered.

const CLOSING: [&str; 2] = ["</think>", "</thinking>"];
const OPENING: [&str; 2] = ["<think>", "<thinking>"];

/// The text after the last closing tag; `None` if the response has only thoughts.
pub fn answer(response: &str) -> Option<&str> {
    let end = CLOSING
        .iter()
        .filter_map(|tag| response.rfind(tag).map(|at| at + tag.len()))
        .max()
        .unwrap_or(0);
    let rest = &response[end..];
    let thinks = OPENING.iter().any(|tag| rest.trim_start().starts_with(tag));
    (!thinks).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_is_left() {
        assert_eq!(answer("plain"), Some("plain"));
        assert_eq!(answer("<think>a</think>b"), Some("b"));
        assert_eq!(answer("the template opened it</think>b"), Some("b"));
        assert_eq!(answer("<think>a</think>b<think>c</think>d"), Some("d"));
        assert_eq!(answer("<thinking>a</thinking>\nb"), Some("\nb"));
        assert_eq!(answer(" <think>cut short"), None);
        assert_eq!(answer("<think>a</think><think>cut short"), None);
        assert_eq!(answer("the tag <think> is a word"), Some("the tag <think> is a word"));
    }
}
