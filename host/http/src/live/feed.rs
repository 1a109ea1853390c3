//! One feed of events for all callers with the same permissions. It looks for changes at most four times a
//! second, and only while somebody reads it or did a moment ago.
//!
//! A feed keeps its last events, so that a reader which comes back goes on where it was. An event's id
//! names its feed: one that was closed and opened again begins with a snapshot.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use assay_api::operations::EndedBatch;
use assay_core::id::TenantId;
use assay_core::limits;
use assay_dispatch::committed::CommittedBatch;
use assay_dispatch::{Dispatch, DispatchError, Observed, WrittenIncident};
use axum::response::sse::Event;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use super::feed_state::{FeedState, View, ended};

const PERIOD: Duration = Duration::from_millis(250);
/// The time for which a feed continues without readers.
const LINGER: Duration = Duration::from_secs(30);

/// The permissions by which callers share a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FeedScope {
    /// `None` is all tenants.
    pub tenant: Option<TenantId>,
    /// True if readers also see the pools and the platform's incidents.
    pub platform: bool,
}

/// The feeds that are open.
pub(crate) struct Feeds {
    dispatch: Dispatch,
    /// True once the server stops.
    stopping: watch::Receiver<bool>,
    open: tokio::sync::Mutex<HashMap<FeedScope, Arc<Feed>>>,
}

pub(crate) struct Feed {
    /// Tells it from every other.
    name: String,
    whose: FeedScope,
    readers: AtomicUsize,
    state: Mutex<State>,
    changes: watch::Sender<()>,
}

struct State {
    sent: FeedState,
    kept: RecentEvents,
    closed: bool,
}

/// The last events of a feed.
#[derive(Default)]
struct RecentEvents {
    events: VecDeque<Line>,
    bytes: usize,
    /// The number of the latest, from 1.
    last: u64,
}

/// An event as it is sent.
#[derive(Debug, Clone)]
struct Line {
    name: &'static str,
    data: Arc<str>,
}

impl Feeds {
    pub(crate) fn new(dispatch: Dispatch, stopping: watch::Receiver<bool>) -> Arc<Self> {
        Arc::new(Self { dispatch, stopping, open: tokio::sync::Mutex::default() })
    }

    /// The feed, opened if nobody had it open.
    pub(crate) async fn open(
        self: &Arc<Self>,
        whose: FeedScope,
    ) -> Result<Arc<Feed>, DispatchError> {
        let mut open = self.open.lock().await;
        if let Some(feed) = open.get(&whose) {
            // Counted while the lock is held: it is not closed under a reader that comes.
            feed.readers.fetch_add(1, Ordering::Relaxed);
            return Ok(Arc::clone(feed));
        }
        let dispatch = &self.dispatch;
        // Before the first look, so that nothing is missed between the two.
        let source = Source { whose, ends: dispatch.committed.ends(), told: dispatch.incidents() };
        let observed = dispatch.observe().await?;
        let sent = FeedState::new(source.view(dispatch, &observed, News::default()));
        let feed = Arc::new(Feed {
            name: uuid::Uuid::now_v7().simple().to_string(),
            whose,
            readers: AtomicUsize::new(1),
            state: Mutex::new(State { sent, kept: RecentEvents::default(), closed: false }),
            changes: watch::Sender::new(()),
        });
        open.insert(whose, Arc::clone(&feed));
        tokio::spawn(run(Arc::clone(self), Arc::clone(&feed), source));
        Ok(feed)
    }
}

/// Tells what changes until nobody reads any more.
async fn run(feeds: Arc<Feeds>, feed: Arc<Feed>, mut source: Source) {
    let mut stopping = feeds.stopping.clone();
    let mut ticks = tokio::time::interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut read_at = Instant::now();
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            _ = stopping.wait_for(|stopped| *stopped) => break,
        }
        if feed.readers.load(Ordering::Relaxed) > 0 {
            read_at = Instant::now();
        } else if read_at.elapsed() > LINGER {
            let mut open = feeds.open.lock().await;
            if feed.readers.load(Ordering::Relaxed) == 0 {
                open.remove(&feed.whose);
                break;
            }
        }
        let Ok(observed) = feeds.dispatch.observe().await else { break };
        feed.tell(&feeds.dispatch, &observed, &mut source);
    }
    feed.state.lock().closed = true;
    feed.changes.send_replace(());
}

/// The source of a feed's data.
struct Source {
    whose: FeedScope,
    ends: Receiver<Arc<CommittedBatch>>,
    told: Receiver<WrittenIncident>,
}

#[derive(Default)]
struct News {
    ended: Vec<EndedBatch>,
    incidents: Vec<assay_api::operations::Incident>,
    /// More came than was kept.
    missed: bool,
}

impl Source {
    fn news(&mut self, dispatch: &Dispatch) -> News {
        let mut news = News::default();
        let whose = self.whose;
        let is_ours = |tenant| whose.tenant.is_none_or(|ours| ours == tenant);
        drain(&mut self.ends, &mut news.missed, |committed: Arc<CommittedBatch>| {
            let tenant = committed.row.tenant;
            if is_ours(tenant) {
                news.ended.push(ended(&committed, &dispatch.tenants.name(tenant)));
            }
        });
        drain(&mut self.told, &mut news.missed, |told: WrittenIncident| {
            if told.tenant.map_or(whose.platform, is_ours) {
                news.incidents.push(told.incident);
            }
        });
        news
    }

    fn view(&self, dispatch: &Dispatch, observed: &Observed, news: News) -> View {
        let batches = dispatch.live_batches(observed, self.whose.tenant);
        View {
            at: observed.at,
            batches: batches.items,
            total: batches.total,
            queue: observed.stages(self.whose.tenant),
            pools: self.whose.platform.then(|| observed.pools.clone()),
            ended: news.ended,
            incidents: news.incidents,
        }
    }
}

fn drain<T: Clone>(from: &mut Receiver<T>, missed: &mut bool, mut take: impl FnMut(T)) {
    loop {
        match from.try_recv() {
            Ok(item) => take(item),
            Err(TryRecvError::Lagged(_)) => *missed = true,
            Err(TryRecvError::Empty | TryRecvError::Closed) => return,
        }
    }
}

impl Feed {
    fn tell(&self, dispatch: &Dispatch, observed: &Observed, source: &mut Source) {
        let news = source.news(dispatch);
        let missed = news.missed;
        let view = source.view(dispatch, observed, news);
        let mut state = self.state.lock();
        let line = if missed {
            state.sent = FeedState::new(view);
            Some(line("snapshot", &state.sent.snapshot()))
        } else {
            let delta = state.sent.advance(view, |batch| observed.has(batch));
            delta.map(|delta| line("delta", &delta))
        };
        if let Some(line) = line {
            state.kept.push(line);
            drop(state);
            self.changes.send_replace(());
        }
    }

    /// Reads the events after this one, or a snapshot first. The reader was counted already.
    pub(crate) fn read_behind(self: Arc<Self>, last_event: Option<&str>) -> Reader {
        let changes = self.changes.subscribe();
        let behind = last_event.and_then(|id| {
            let number = id.strip_prefix(&*self.name)?.strip_prefix('-')?.parse().ok()?;
            self.state.lock().kept.has_all_behind(number).then_some(number)
        });
        Reader { feed: self, changes, behind }
    }

    fn event(&self, number: u64, line: &Line) -> Event {
        Event::default().event(line.name).id(format!("{}-{number}", self.name)).data(&*line.data)
    }
}

fn line(name: &'static str, data: &impl Serialize) -> Line {
    let data = serde_json::to_string(data).expect("it is plain data");
    Line { name, data: data.into() }
}

impl RecentEvents {
    fn push(&mut self, line: Line) {
        self.last += 1;
        self.bytes += line.data.len();
        self.events.push_back(line);
        while self.events.len() > limits::LIVE_EVENTS_KEPT_MAX
            || (self.bytes > limits::LIVE_BYTES_KEPT_MAX && self.events.len() > 1)
        {
            let oldest = self.events.pop_front();
            self.bytes -= oldest.map_or(0, |line| line.data.len());
        }
    }

    fn has_all_behind(&self, number: u64) -> bool {
        number <= self.last && self.last - number <= self.events.len() as u64
    }

    /// The event with this number, if it is kept still.
    fn get(&self, number: u64) -> Option<&Line> {
        let from_end = usize::try_from(self.last.checked_sub(number)?).ok()?;
        let place = self.events.len().checked_sub(from_end + 1)?;
        self.events.get(place)
    }
}

/// One stream's place in a feed.
pub(crate) struct Reader {
    feed: Arc<Feed>,
    changes: watch::Receiver<()>,
    /// The last event that was sent; nothing before the snapshot.
    behind: Option<u64>,
}

impl Reader {
    /// The next event; `None` when the feed is closed or has gone on too far.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            self.changes.mark_unchanged();
            {
                let state = self.feed.state.lock();
                let last = state.kept.last;
                let Some(behind) = self.behind else {
                    self.behind = Some(last);
                    let line = line("snapshot", &state.sent.snapshot());
                    return Some(self.feed.event(last, &line));
                };
                if behind < last {
                    let event = self.feed.event(behind + 1, state.kept.get(behind + 1)?);
                    self.behind = Some(behind + 1);
                    return Some(event);
                }
                if state.closed {
                    return None;
                }
            }
            self.changes.changed().await.ok()?;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.feed.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(events: u64, bytes: usize) -> RecentEvents {
        let mut kept = RecentEvents::default();
        for number in 1..=events {
            let data = format!("{number}{}", " ".repeat(bytes));
            kept.push(Line { name: "delta", data: data.into() });
        }
        kept
    }

    #[test]
    fn events_are_found_by_their_numbers_while_they_are_kept() {
        let kept = kept(1_000, 8);
        assert_eq!(kept.events.len(), limits::LIVE_EVENTS_KEPT_MAX);
        let oldest = 1_000 - limits::LIVE_EVENTS_KEPT_MAX as u64 + 1;
        for number in [oldest, 1_000] {
            let line = kept.get(number).expect("it is kept");
            assert_eq!(line.data.trim(), number.to_string());
        }
        assert!(kept.get(oldest - 1).is_none() && kept.get(1_001).is_none());
        assert!(kept.has_all_behind(1_000) && kept.has_all_behind(oldest - 1));
        assert!(!kept.has_all_behind(oldest - 2) && !kept.has_all_behind(1_001));
    }

    #[test]
    fn large_events_give_way_earlier_and_the_last_one_stays() {
        let half = limits::LIVE_BYTES_KEPT_MAX / 2 - 8;
        assert_eq!(kept(10, half).events.len(), 2);
        let larger = kept(3, limits::LIVE_BYTES_KEPT_MAX + 1);
        assert_eq!((larger.events.len(), larger.last), (1, 3));
    }
}
