//! Homa's receivers: which messages are granted more bytes, and at which level.
//!
//! B. Montazeri et al., "Homa: A Receiver-Driven Low-Latency Transport Protocol Using Network
//! Priorities", SIGCOMM 2018, sec. 3.3 to 3.5. Implemented:
//! - A host orders the messages that it is sent by remaining bytes (SRPT) and grants to the first K of
//!   them, at most one of each sender: K is the degree of overcommitment.
//! - A granted message has at most RTTbytes granted and not received. Every packet that arrives makes
//!   room for the next one, so it brings one grant; a message that moves up to the first K gets all of
//!   its room in one (sec. 3.3; the authors' simulator spreads that over packet times).
//! - The i-th of n active messages gets the i-th of the n *lowest* scheduled levels, so that the next
//!   shorter one finds a free level above (sec. 3.4).
//!
//! Where the sources are silent: all messages of a host together have at most K RTTbytes of scheduled
//! bytes granted and not received. Without that bound a message that is granted to its end would make
//! place for the next one at once, and a host would let any number of short ones go at the same time;
//! with it the buffer in front of a host is bounded as the paper says (sec. 3.5). Linux's `max_incoming`
//! has the same purpose. The last RTTbytes of a message have no higher level (the authors' simulator
//! can do that).
//!
//! Invariants: a host's messages are in order; each has bytes that are not granted; grants end at whole
//! packets or at the end of a message. A packet costs a binary search and a look at the first messages
//! until K senders are found.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use crate::control::homa::HomaConfig;
use crate::path::PathFacts;

/// A message at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Slot of the flow; a grant names it.
    pub slot: u32,
    /// The sending host.
    pub source: u32,
    /// Number of the flow; of messages with equal remains the lowest comes first.
    pub number: u64,
    /// All of its bytes (bytes).
    pub size: u64,
}

/// More bytes for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Slot of the flow.
    pub slot: u32,
    /// The bytes before this may be sent (bytes).
    pub offset: u64,
    /// Priority level of scheduled packets from now on, 0 the highest.
    pub level: u8,
}

/// A message with bytes that are not granted.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Bytes that have not arrived.
    remaining: u64,
    /// Bytes that are not granted, > 0.
    ungranted: u64,
    message: Message,
}

impl Waiting {
    fn key(&self) -> (u64, u64) {
        (self.remaining, self.message.number)
    }
}

/// What one host is sent.
#[derive(Clone, Debug, Default)]
struct Inbox {
    /// By remaining bytes and number.
    waiting: Vec<Waiting>,
    /// Scheduled bytes that are granted and have not arrived.
    incoming: u64,
}

/// The granting halves of all hosts; they share nothing but the space they work in.
#[derive(Clone, Debug)]
pub struct Granters {
    inboxes: Vec<Inbox>,
    rtt_bytes: u64,
    payload: u64,
    overcommitment: usize,
    /// The first scheduled level.
    first_level: u8,
    grants: VecDeque<Grant>,
    /// Places of the active messages, while they are granted to.
    active: Vec<usize>,
    /// By sender: the last round in which one of its messages was found.
    found_in: Vec<u64>,
    round: u64,
}

impl Granters {
    /// Nothing has arrived at any of `hosts` hosts. What `config` leaves open is one unscheduled and
    /// one scheduled level.
    pub fn new(config: &HomaConfig, path: &PathFacts, hosts: usize) -> Self {
        Granters {
            inboxes: vec![Inbox::default(); hosts],
            rtt_bytes: config.rtt_bytes(path),
            payload: u64::from(path.payload),
            overcommitment: config.overcommitment.unwrap_or(1) as usize,
            first_level: config.first_scheduled_level(),
            grants: VecDeque::new(),
            active: Vec::new(),
            found_in: vec![0; hosts],
            round: 0,
        }
    }

    /// A packet of `message` arrived at `host`, which had `before` bytes of it and now has `after`;
    /// then [`Granters::take_grant`] has the grants that are due.
    pub fn on_data(&mut self, host: u32, message: Message, before: u64, after: u64) {
        if message.size <= self.rtt_bytes || before == after {
            return;
        }
        let inbox = &mut self.inboxes[host as usize];
        inbox.incoming -= after.max(self.rtt_bytes) - before.max(self.rtt_bytes);
        let remaining = message.size - after;
        if before == 0 {
            let ungranted = message.size - self.rtt_bytes;
            let waiting = Waiting { remaining, ungranted, message };
            let place = inbox.waiting.partition_point(|other| other.key() < waiting.key());
            inbox.waiting.insert(place, waiting);
        } else {
            let key = (message.size - before, message.number);
            if let Ok(old) = inbox.waiting.binary_search_by_key(&key, Waiting::key) {
                let key = (remaining, message.number);
                let new = inbox.waiting[..old].partition_point(|other| other.key() < key);
                inbox.waiting[old].remaining = remaining;
                inbox.waiting[new..=old].rotate_right(1);
            }
        }
        while self.grant(host) {}
    }

    /// The next grant to send, in the order of the messages.
    #[inline]
    pub fn take_grant(&mut self) -> Option<Grant> {
        self.grants.pop_front()
    }

    /// Grants to the active messages of `host`; answers whether one of them was granted to its end and
    /// has made place for another.
    fn grant(&mut self, host: u32) -> bool {
        self.find_active(host);
        let inbox = &mut self.inboxes[host as usize];
        let limit = self.overcommitment as u64 * self.rtt_bytes;
        let lowest = usize::from(self.first_level) + self.overcommitment - self.active.len();
        let mut has_finished = false;
        for (rank, &place) in self.active.iter().enumerate() {
            let waiting = &mut inbox.waiting[place];
            let outstanding = waiting.remaining - waiting.ungranted;
            let room = (self.rtt_bytes - outstanding).min(limit - inbox.incoming);
            let granted = if waiting.ungranted <= room {
                waiting.ungranted
            } else {
                room - room % self.payload
            };
            if granted == 0 {
                continue;
            }
            waiting.ungranted -= granted;
            inbox.incoming += granted;
            has_finished |= waiting.ungranted == 0;
            self.grants.push_back(Grant {
                slot: waiting.message.slot,
                offset: waiting.message.size - waiting.ungranted,
                level: (lowest + rank) as u8,
            });
        }
        if has_finished {
            inbox.waiting.retain(|waiting| waiting.ungranted > 0);
        }
        has_finished
    }

    /// Finds the first messages of different senders, as many as overcommitment allows.
    fn find_active(&mut self, host: u32) {
        self.round += 1;
        self.active.clear();
        for (place, waiting) in self.inboxes[host as usize].waiting.iter().enumerate() {
            if self.active.len() == self.overcommitment {
                break;
            }
            let found_in = &mut self.found_in[waiting.message.source as usize];
            if *found_in != self.round {
                *found_in = self.round;
                self.active.push(place);
            }
        }
    }
}

#[cfg(test)]
#[path = "granters_tests.rs"]
mod tests;
