//! Names and other short texts that people and trainers choose.

/// A name that people gave: not empty, not too long, nothing invisible.
pub(crate) fn check_text(what: &str, text: &str, bytes_max: usize) -> Result<(), String> {
    if text.is_empty() {
        return Err(format!("{what} is empty"));
    }
    if text.len() > bytes_max {
        return Err(format!("{what} has {} bytes, the limit is {bytes_max}", text.len()));
    }
    if text.chars().any(char::is_control) {
        return Err(format!("{what} has a control character"));
    }
    if text.chars().any(turns_text) {
        return Err(format!("{what} has a character that changes the direction of text"));
    }
    Ok(())
}

/// Whether the character changes the order in which those beside it are shown, so that a name could pass
/// for another.
fn turns_text(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}
