//! The progress of `assay score`: a bar on a terminal, otherwise a line every few seconds.

use std::time::{Duration, Instant};

use assay_client::score::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const LINE_PERIOD: Duration = Duration::from_secs(5);

pub(super) struct View {
    bar: ProgressBar,
    terminal: bool,
    told: Instant,
}

impl View {
    pub(super) fn new() -> Self {
        let terminal = console_is_terminal();
        let target =
            if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style =
            ProgressStyle::with_template("{wide_bar} {percent:>3} %  {msg}  {elapsed_precise}");
        let bar = ProgressBar::with_draw_target(Some(1), target);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, terminal, told: Instant::now() }
    }

    pub(super) fn show(&mut self, progress: &Progress) {
        // The number of rows is known at the end of the file; until then its size gives an
        // estimate.
        let rows = progress.submitted + progress.skipped + progress.malformed;
        let total = match progress.bytes_read {
            0 => rows.max(1),
            read => (rows as f64 * progress.bytes_total as f64 / read as f64) as u64,
        };
        let ended = progress.finished + progress.skipped + progress.malformed;
        self.bar.set_length(total.max(ended).max(1));
        self.bar.set_position(ended);
        self.bar.set_message(message(progress));
        if !self.terminal && self.told.elapsed() >= LINE_PERIOD {
            self.told = Instant::now();
            eprintln!("{}", message(progress));
        }
    }

    pub(super) fn end(self) {
        self.bar.finish_and_clear();
    }
}

fn console_is_terminal() -> bool {
    use std::io::IsTerminal as _;
    std::io::stderr().is_terminal()
}

fn message(progress: &Progress) -> String {
    let mut message = format!("{} scored", progress.scored);
    for (count, word) in [
        (progress.timed_out, "timed out"),
        (progress.error, "errors"),
        (progress.malformed, "malformed"),
        (progress.skipped, "scored before"),
        (progress.disagreed, "disagree"),
    ] {
        if count > 0 {
            message.push_str(&format!(", {count} {word}"));
        }
    }
    message
}
