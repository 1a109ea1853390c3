//! The progress of what takes long: for `assay score` a bar on a terminal and a line every few seconds otherwise, for
//! the rest lines with the time.

use std::time::{Duration, Instant};

use assay_client::score::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const LINE_PERIOD: Duration = Duration::from_secs(5);

/// The time after which something counts as taking long.
const LONG: Duration = Duration::from_secs(2);

/// Waits for a result; says on standard error what it waits for, as in `compiling 18 MiB, 40 s`, if that takes long.
pub(super) async fn told_while<T>(what: &str, work: impl Future<Output = T>) -> T {
    let started = tokio::time::Instant::now();
    let mut lines = tokio::time::interval_at(started + LONG, LINE_PERIOD);
    tokio::pin!(work);
    loop {
        tokio::select! {
            result = &mut work => return result,
            _ = lines.tick() => eprintln!("{what}, {} s", started.elapsed().as_secs()),
        }
    }
}

/// A size in words, such as `18 MiB`.
pub(super) fn mib(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{} KiB", bytes.div_ceil(1 << 10)),
        mib => format!("{mib} MiB"),
    }
}

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
