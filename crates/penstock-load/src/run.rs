//! What all hosts of a run share: its end, its stop flag, and whether anyone still sends.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use penstock_units::Time;
use rustix::event::{EventfdFlags, eventfd};

use crate::clock::{Origin, monotonic};
use crate::error::LoadError;

/// The most samples of one flow (our choice: 8 MB for each endless flow).
const MOST_SAMPLES: u64 = 1_000_000;

/// How long servers wait by default for what is still under way (our choice: longer than the
/// retransmission of a lost last segment, RFC 6298 sec. 2.4, in Linux at least 200 ms).
const DEFAULT_DRAIN: Time = Time::from_ms(500);

/// How a run ends and what it measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// When the run ends at the latest, from its origin. [`Time::NEVER`]: when all flows have ended.
    pub end: Time,
    /// How long servers wait for datagrams once no host has anything left to send. A server that has all it
    /// expects does not wait. Default: 500 ms.
    pub drain: Time,
    /// The time between two samples of what an endless flow delivered; none for no samples.
    pub sample_interval: Option<Time>,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { end: Time::NEVER, drain: DEFAULT_DRAIN, sample_interval: None }
    }
}

/// What all hosts of a run share.
#[derive(Debug)]
pub struct LoadRun {
    options: RunOptions,
    stop: Flag,
    all_sent: Flag,
    /// How many hosts may still send.
    sending: AtomicUsize,
    /// When the last host had nothing left to send (ns of CLOCK_MONOTONIC).
    all_sent_at: AtomicU64,
}

impl LoadRun {
    /// A run of `hosts` hosts. Each of them must be made ([`crate::LoadHost::new`]) and run; where one
    /// cannot be made, call [`LoadRun::stop`].
    ///
    /// # Errors
    /// When samples are asked for without an end, or more than a million of them; when the kernel has no
    /// descriptor left.
    pub fn new(hosts: usize, options: RunOptions) -> Result<Arc<Self>, LoadError> {
        if let Some(interval) = options.sample_interval {
            if interval == Time::ZERO {
                return Err(LoadError::Options("the sample interval must be positive"));
            }
            if options.end.as_ps() / interval.as_ps() > MOST_SAMPLES {
                let reason =
                    "a flow may have a million samples; give the run an end, or a longer interval";
                return Err(LoadError::Options(reason));
            }
        }
        Ok(Arc::new(LoadRun {
            options,
            stop: Flag::new()?,
            all_sent: Flag::new()?,
            sending: AtomicUsize::new(hosts),
            all_sent_at: AtomicU64::new(0),
        }))
    }

    /// Ends the run: all hosts stop at once, and flows that are open end as unfinished. From any thread,
    /// any number of times.
    pub fn stop(&self) {
        self.stop.raise();
    }

    /// Whether [`LoadRun::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_raised()
    }

    /// Whether no host has anything left to send.
    pub fn has_sent_all(&self) -> bool {
        self.all_sent.is_raised()
    }

    /// How the run ends and what it measures.
    pub fn options(&self) -> RunOptions {
        self.options
    }

    /// Whether the run is stopped, or its end is reached.
    pub(crate) fn is_over(&self, origin: Origin) -> bool {
        self.is_stopped() || origin.elapsed() >= self.options.end
    }

    /// When no host had anything left to send (ns of CLOCK_MONOTONIC); none before.
    pub(crate) fn all_sent_at(&self) -> Option<u64> {
        self.all_sent.is_raised().then(|| self.all_sent_at.load(Ordering::Acquire))
    }

    /// Becomes readable when the run is stopped, and stays so.
    pub(crate) fn stop_event(&self) -> BorrowedFd<'_> {
        self.stop.event.as_fd()
    }

    /// Becomes readable when no host has anything left to send, and stays so.
    pub(crate) fn all_sent_event(&self) -> BorrowedFd<'_> {
        self.all_sent.event.as_fd()
    }
}

/// A flag that a thread can wait for.
#[derive(Debug)]
struct Flag {
    is_raised: AtomicBool,
    event: OwnedFd,
}

impl Flag {
    fn new() -> Result<Self, LoadError> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(LoadError::system("eventfd"))?;
        Ok(Flag { is_raised: AtomicBool::new(false), event })
    }

    fn raise(&self) {
        if !self.is_raised.swap(true, Ordering::AcqRel) {
            // The count is 0 before the only write, so the write cannot block or fail.
            let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        }
    }

    fn is_raised(&self) -> bool {
        self.is_raised.load(Ordering::Acquire)
    }
}

/// One host's word that it may still send; taken back once, at the latest when it is dropped, so that a
/// host that fails keeps no other waiting.
#[derive(Debug)]
pub(crate) struct Sending(Option<Arc<LoadRun>>);

impl Sending {
    pub(crate) fn of(run: Arc<LoadRun>) -> Self {
        Sending(Some(run))
    }

    /// The host has nothing left to send.
    pub(crate) fn end(&mut self) {
        let Some(run) = self.0.take() else { return };
        let before =
            run.sending.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1));
        if before == Ok(1) {
            run.all_sent_at.store(monotonic(), Ordering::Release);
            run.all_sent.raise();
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.end();
    }
}
