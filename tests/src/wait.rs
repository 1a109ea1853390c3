//! Waiting for something that nobody announces.

use std::fmt::Debug;
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_millis(10);
const WITHIN: Duration = Duration::from_secs(120);

/// Asks again and again until there is an answer.
///
/// # Panics
/// When there is none within two minutes; `what` says what was waited for.
pub async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(started.elapsed() < WITHIN, "{what}: not within {WITHIN:?}");
        // Between two looks at another process, never instead of one.
        tokio::time::sleep(PERIOD).await;
    }
}

/// Asks again and again until the answer is good.
///
/// # Panics
/// When none is within two minutes; shows the last answer.
pub async fn until_good<T: Debug>(
    what: &str,
    mut ask: impl AsyncFnMut() -> T,
    good: impl Fn(&T) -> bool,
) -> T {
    let started = Instant::now();
    loop {
        let answer = ask().await;
        if good(&answer) {
            return answer;
        }
        assert!(started.elapsed() < WITHIN, "{what}: not within {WITHIN:?}, but {answer:#?}");
        tokio::time::sleep(PERIOD).await;
    }
}
