//! Finds the sections of a text and says whether they stand as they should.
//!
//! A tag counts wherever it stands, so that a response cannot hide a second answer in a section.

use crate::settings::Settings;

/// The form of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    pub verdict: Verdict,
    /// The reason why the form is wrong; empty where it is right.
    pub reason: String,
    /// Whether each section is there, once and not empty, in the order of the settings.
    pub complete: Vec<bool>,
}

/// The faults of a form, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Formatted,
    MissingSection,
    RepeatedSection,
    WrongOrder,
    EmptySection,
    OtherText,
}

impl Verdict {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Formatted => "formatted",
            Self::MissingSection => "missing_section",
            Self::RepeatedSection => "repeated_section",
            Self::WrongOrder => "wrong_order",
            Self::EmptySection => "empty_section",
            Self::OtherText => "other_text",
        }
    }
}

/// The place of a section with its tags.
struct Section {
    start: usize,
    end: usize,
}

enum Fault {
    Missing(String),
    Repeated(String),
    Backwards,
    Empty,
}

#[must_use]
pub fn read(text: &str, settings: &Settings) -> Form {
    let text = response(text, settings);
    let found: Vec<Result<Section, Fault>> =
        settings.sections.iter().map(|name| section(text, name)).collect();
    let complete = found.iter().map(Result::is_ok).collect();
    let (verdict, reason) = judge(text, settings, &found);
    Form { verdict, reason, complete }
}

/// The part of a text that the model wrote.
fn response<'a>(text: &'a str, settings: &Settings) -> &'a str {
    let start = match settings.starts_after.as_str() {
        "" => 0,
        mark => text.rfind(mark).map_or(0, |at| at + mark.len()),
    };
    let mut text = text[start..].trim();
    while let Some(shorter) = settings.cut.iter().find_map(|cut| text.strip_suffix(cut.as_str())) {
        text = shorter.trim_end();
    }
    text
}

fn section(text: &str, name: &str) -> Result<Section, Fault> {
    let (opening, closing) = (format!("<{name}>"), format!("</{name}>"));
    let start = only(text, opening)?;
    let end = only(text, closing.clone())?;
    let from = start + name.len() + 2;
    if end < from {
        return Err(Fault::Backwards);
    }
    if text[from..end].trim().is_empty() {
        return Err(Fault::Empty);
    }
    Ok(Section { start, end: end + closing.len() })
}

/// The place of a tag that must occur once.
fn only(text: &str, tag: String) -> Result<usize, Fault> {
    let mut places = text.match_indices(tag.as_str()).map(|(at, _)| at);
    match (places.next(), places.next()) {
        (Some(at), None) => Ok(at),
        (None, _) => Err(Fault::Missing(tag)),
        (Some(_), Some(_)) => Err(Fault::Repeated(tag)),
    }
}

fn judge(text: &str, settings: &Settings, found: &[Result<Section, Fault>]) -> (Verdict, String) {
    let faults: Vec<&Fault> = found.iter().filter_map(|found| found.as_ref().err()).collect();
    for fault in &faults {
        if let Fault::Missing(tag) = fault {
            return (Verdict::MissingSection, format!("there is no {tag}"));
        }
    }
    for fault in &faults {
        if let Fault::Repeated(tag) = fault {
            return (Verdict::RepeatedSection, format!("{tag} is there more than once"));
        }
    }
    let sections: Vec<&Section> = found.iter().filter_map(|found| found.as_ref().ok()).collect();
    let in_order = sections.windows(2).all(|pair| pair[0].end <= pair[1].start);
    if !in_order || faults.iter().any(|fault| matches!(fault, Fault::Backwards)) {
        return (Verdict::WrongOrder, format!("the order is not {}", settings.sections.join(", ")));
    }
    if let Some(at) = found.iter().position(|found| matches!(found, Err(Fault::Empty))) {
        return (Verdict::EmptySection, format!("<{}> is empty", settings.sections[at]));
    }
    let mut outside = text.to_owned();
    for section in sections.iter().rev() {
        outside.replace_range(section.start..section.end, " ");
    }
    if !settings.other_text && !outside.trim().is_empty() {
        let shown: String = outside.trim().chars().take(60).collect();
        return (Verdict::OtherText, format!("text outside of the sections: `{shown}`"));
    }
    (Verdict::Formatted, String::new())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: Verdict) {
        let form = read(text, &Settings::default());
        assert_eq!(form.verdict, expected, "{text}: {form:?}");
        assert_eq!(form.reason.is_empty(), expected == Verdict::Formatted);
    }

    #[test]
    fn the_sections_of_a_response() {
        use Verdict::*;
        check("<think>6 * 7</think><answer>42</answer>", Formatted);
        check("\n<think>\n6 * 7\n</think>\n\n<answer> 42 </answer>\n", Formatted);
        check("42", MissingSection);
        check("<think>6 * 7<answer>42</answer>", MissingSection);
        check("<Think>a</Think><answer>42</answer>", MissingSection);
        check("<think>a</think><answer>1</answer><answer>2</answer>", RepeatedSection);
        check("<think>so <answer>1</answer></think><answer>2</answer>", RepeatedSection);
        check("<answer>42</answer><think>a</think>", WrongOrder);
        check("<think>a<answer>42</answer></think>", WrongOrder);
        check("</think>a<think><answer>42</answer>", WrongOrder);
        check("<think> \n</think><answer>42</answer>", EmptySection);
        check("Well: <think>a</think><answer>42</answer>", OtherText);
        check("<think>a</think> so <answer>42</answer>", OtherText);
        check("<think>a</think><answer>42</answer>.", OtherText);
    }

    #[test]
    fn a_chat_template_is_left_out() {
        let settings = Settings {
            starts_after: "<|im_start|>assistant\n".into(),
            cut: vec!["<|im_end|>".into(), "<|endoftext|>".into()],
            ..Settings::default()
        };
        let text = "<|im_start|>user\nWrite <think> and <answer>.<|im_end|>\n<|im_start|>assistant\n\
                    <think>a</think><answer>42</answer><|im_end|>\n<|endoftext|><|endoftext|>";
        assert_eq!(read(text, &settings).verdict, Verdict::Formatted);
        assert_eq!(read(text, &Settings::default()).verdict, Verdict::RepeatedSection);
    }

    #[test]
    fn other_sections_and_other_text() {
        let settings =
            Settings { sections: vec!["plan".into()], other_text: true, ..Settings::default() };
        let form = read("First <plan>a</plan>, then more.", &settings);
        assert_eq!((form.verdict, form.complete), (Verdict::Formatted, vec![true]));
    }

    proptest! {
        #[test]
        fn any_text_has_a_verdict(text in "(<think>|</think>|<answer>|</answer>|<|>|é| |a){0,12}") {
            let form = read(&text, &Settings::default());
            prop_assert_eq!(form.complete.len(), 2);
            if form.verdict == Verdict::Formatted {
                prop_assert!(form.complete.iter().all(|it| *it));
            }
        }
    }
}
