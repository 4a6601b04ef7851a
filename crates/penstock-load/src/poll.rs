//! What a host's thread waits for: sockets, one timer, and the events of the run.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::error::LoadError;

/// How many events one wait returns at most. Our choice: few enough that a timer waits for tens of
/// microseconds, many enough that a wait is a small part of the work.
pub(crate) const EVENTS: usize = 64;

/// What has become ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The timer is due.
    Timer,
    /// The run is stopped.
    Stop,
    /// No host has anything left to send.
    AllSent,
    /// A connection waits to be accepted.
    Listener,
    /// A datagram waits to be read.
    Datagrams,
    /// A connection that the server accepted, by its key.
    Incoming(u32),
    /// A connection of the client, by the index of its flow.
    Outgoing(u32),
}

impl Source {
    /// As the kernel keeps it: the kind in the upper half, the key in the lower one.
    fn data(self) -> EventData {
        let (kind, key) = match self {
            Source::Timer => (0, 0),
            Source::Stop => (1, 0),
            Source::AllSent => (2, 0),
            Source::Listener => (3, 0),
            Source::Datagrams => (4, 0),
            Source::Incoming(key) => (5, key),
            Source::Outgoing(key) => (6, key),
        };
        EventData::new_u64(kind << 32 | u64::from(key))
    }

    fn of(data: u64) -> Source {
        let key = data as u32;
        match data >> 32 {
            0 => Source::Timer,
            1 => Source::Stop,
            2 => Source::AllSent,
            3 => Source::Listener,
            4 => Source::Datagrams,
            5 => Source::Incoming(key),
            _ => Source::Outgoing(key),
        }
    }
}

/// A source that has become ready, and for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) source: Source,
    /// Whether bytes, the end of the stream or an error wait to be read.
    pub(crate) is_readable: bool,
}

/// An `epoll` and its timer.
#[derive(Debug)]
pub(crate) struct Poll {
    epoll: OwnedFd,
    timer: OwnedFd,
    /// The nanosecond of CLOCK_MONOTONIC at which the timer is due; none when it is not set.
    armed: Option<u64>,
}

impl Poll {
    pub(crate) fn new() -> Result<Self, LoadError> {
        let epoll =
            epoll::create(CreateFlags::CLOEXEC).map_err(LoadError::system("epoll_create"))?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)
            .map_err(LoadError::system("timerfd_create"))?;
        let poll = Poll { epoll, timer, armed: None };
        poll.watch(&poll.timer, Source::Timer, EventFlags::IN)
            .map_err(LoadError::system("epoll_ctl"))?;
        Ok(poll)
    }

    /// Reports `source` whenever `socket` is ready for one of `flags`.
    pub(crate) fn watch(
        &self,
        socket: impl AsFd,
        source: Source,
        flags: EventFlags,
    ) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, source.data(), flags)?)
    }

    /// Reports `source` from now on for `flags` only.
    pub(crate) fn change(
        &self,
        socket: impl AsFd,
        source: Source,
        flags: EventFlags,
    ) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, socket, source.data(), flags)?)
    }

    /// Reports `socket` no more.
    pub(crate) fn forget(&self, socket: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, socket)?)
    }

    /// Waits until something is ready, or CLOCK_MONOTONIC reaches the nanosecond `deadline`. Returns at
    /// most 64 sources; none after a signal.
    pub(crate) fn wait(
        &mut self,
        deadline: Option<u64>,
        ready: &mut Vec<Ready>,
    ) -> Result<(), LoadError> {
        self.set_timer(deadline)?;
        let mut room = [MaybeUninit::<Event>::uninit(); EVENTS];
        let events = match epoll::wait(&self.epoll, &mut room, None) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(()),
            Err(error) => {
                return Err(LoadError::System { what: "epoll_wait", source: error.into() });
            }
        };
        for event in events.iter() {
            let source = Source::of({ event.data }.u64());
            if source == Source::Timer {
                // A timer that was due stays ready until it is set again.
                self.armed = None;
            } else {
                let is_readable =
                    { event.flags }.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR);
                ready.push(Ready { source, is_readable });
            }
        }
        Ok(())
    }

    /// Sets the timer to `deadline`; a deadline in the past is due at once.
    fn set_timer(&mut self, deadline: Option<u64>) -> Result<(), LoadError> {
        if deadline.is_some() && self.armed == deadline {
            return Ok(());
        }
        // Zero would switch the timer off; it is in the past like one.
        let nanoseconds = deadline.map_or(0, |deadline| deadline.max(1));
        let value = Timespec {
            tv_sec: i64::try_from(nanoseconds / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (nanoseconds % 1_000_000_000) as i64,
        };
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let times = Itimerspec { it_interval: never, it_value: value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &times)
            .map_err(LoadError::system("timerfd_settime"))?;
        self.armed = deadline;
        Ok(())
    }
}
