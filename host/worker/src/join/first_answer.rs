//! The first answer of several addresses, some of which may answer late or never.

use std::time::Duration;

use anyhow::anyhow;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until};

/// The time that an address has before the next one is tried beside it.
const HEAD_START: Duration = Duration::from_secs(1);

/// Tries the addresses in their order: the next one as soon as one has failed, or has not answered within a second. Whoever
/// answers first counts; the other tries end.
pub(super) async fn first_answer<'a, T, F>(
    addresses: &'a [String],
    mut try_address: impl FnMut(&'a str) -> F,
) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
{
    let mut untried = addresses.iter();
    let mut tries = FuturesUnordered::new();
    let mut failures = Vec::new();
    let mut next_at = Instant::now();
    loop {
        tokio::select! {
            Some(tried) = tries.next() => match tried {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    failures.push(format!("{error:#}"));
                    next_at = Instant::now();
                }
            },
            () = sleep_until(next_at), if untried.len() > 0 => {
                tries.extend(untried.next().map(|address| try_address(address)));
                next_at = Instant::now() + HEAD_START;
            }
            else => return Err(anyhow!(failures.join("; "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::future::pending;

    use super::*;

    /// Tries addresses that are named by what they do; the addresses that were tried, and the answer.
    async fn tried(addresses: &[&str]) -> (Vec<String>, Result<String, String>) {
        let addresses: Vec<String> = addresses.iter().map(|&it| it.to_owned()).collect();
        let tries = RefCell::new(Vec::new());
        let answer = first_answer(&addresses, async |address: &str| {
            tries.borrow_mut().push(address.to_owned());
            match address {
                "silent" => pending().await,
                "gone" => Err(anyhow!("{address}: refused")),
                _ => Ok(address.to_owned()),
            }
        })
        .await;
        (tries.into_inner(), answer.map_err(|error| error.to_string()))
    }

    async fn check(addresses: &[&str], tries: usize, answer: Result<&str, &str>) {
        let answer = answer.map(str::to_owned).map_err(str::to_owned);
        let expected = addresses[..tries].iter().map(|&it| it.to_owned()).collect();
        assert_eq!(tried(addresses).await, (expected, answer));
    }

    #[tokio::test]
    async fn the_next_address_is_tried_where_one_fails_or_is_silent() {
        check(&["first", "second"], 1, Ok("first")).await;
        check(&["gone", "second", "third"], 2, Ok("second")).await;
        check(&["silent", "gone", "third"], 3, Ok("third")).await;
        check(&["gone", "gone"], 2, Err("gone: refused; gone: refused")).await;
    }
}
