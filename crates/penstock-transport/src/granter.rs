//! Homa's receivers: which messages are granted more bytes, and at which level.
//!
//! B. Montazeri et al., "Homa: A Receiver-Driven Low-Latency Transport Protocol Using Network
//! Priorities", SIGCOMM 2018, sec. 3.3 to 3.5. Implemented:
//! - A host orders its incoming messages by remaining bytes (SRPT). The host grants to the first K of
//!   them, at most one of each sender. K is the degree of overcommitment.
//! - A granted message has at most RTTbytes that are granted and not received. Every packet that
//!   arrives makes room for the next one, so the packet brings one grant. A message that moves up to
//!   the first K gets all of its room in one grant (sec. 3.3; the authors' simulator spreads these
//!   bytes over packet times).
//! - The i-th of n active messages gets the i-th of the n *lowest* scheduled levels. The next shorter
//!   message therefore finds a free level above (sec. 3.4).
//!
//! Where the sources are silent: all messages of a host together have at most K RTTbytes of scheduled
//! bytes that are granted and not received. This bound limits the buffer in front of a host as the
//! paper says (sec. 3.5). Without the bound, a message that is granted to its end would make place for
//! the next one at once, and a host would let any number of short messages go at the same time. Linux's
//! `max_incoming` has the same purpose. The last RTTbytes of a message have no higher level here, as
//! they can have in the authors' simulator.
//!
//! Invariants: a host's messages are in order; each has bytes that are not granted; grants end at whole
//! packets or at the end of a message. A packet costs a binary search, and a look at the first messages
//! until K senders are found.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};

/// A message at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Message {
    /// Slot of the flow; a grant names it.
    pub slot: u32,
    /// The sending host.
    pub source: u32,
    /// Number of the flow. Of messages with equal remaining bytes the lowest number comes first.
    pub number: u64,
    /// Size of the message (bytes).
    pub size: u64,
}

/// More bytes for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Grant {
    /// Slot of the flow.
    pub slot: u32,
    /// The sender may send the bytes before this one (bytes).
    pub offset: u64,
    /// Priority level of scheduled packets from now on, 0 the highest.
    pub level: u8,
}

/// A message with bytes that are not granted.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
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

/// The granting half of one host.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Granter {
    rtt_bytes: u64,
    payload: u64,
    overcommitment: usize,
    /// The first scheduled level.
    first_level: u8,
    /// The messages, sorted by remaining bytes, then by number.
    waiting: Vec<Waiting>,
    /// Scheduled bytes that are granted and have not arrived.
    incoming: u64,
    grants: VecDeque<Grant>,
    /// Positions of the active messages in `waiting`, used only while grants are given.
    active: Vec<usize>,
}

impl Granter {
    /// A granter of a host to which nothing has come. `rtt_bytes` are RTTbytes, whole packets of
    /// `payload` (bytes). Grants go to `overcommitment` messages at a time, at levels from
    /// `first_level` on.
    pub fn new(rtt_bytes: u64, payload: u32, overcommitment: u32, first_level: u8) -> Self {
        Granter {
            rtt_bytes,
            payload: u64::from(payload),
            overcommitment: overcommitment as usize,
            first_level,
            waiting: Vec::new(),
            incoming: 0,
            grants: VecDeque::new(),
            active: Vec::new(),
        }
    }

    /// A packet of `message` arrived. The host had `before` bytes of the message and now has `after`.
    /// Afterwards [`Granter::take_grant`] gives the grants that are due.
    pub fn on_data(&mut self, message: Message, before: u64, after: u64) {
        if message.size <= self.rtt_bytes || before == after {
            return;
        }
        self.incoming -= after.max(self.rtt_bytes) - before.max(self.rtt_bytes);
        let remaining = message.size - after;
        if before == 0 {
            let ungranted = message.size - self.rtt_bytes;
            let waiting = Waiting { remaining, ungranted, message };
            let place = self.waiting.partition_point(|other| other.key() < waiting.key());
            self.waiting.insert(place, waiting);
        } else {
            let key = (message.size - before, message.number);
            if let Ok(old) = self.waiting.binary_search_by_key(&key, Waiting::key) {
                let key = (remaining, message.number);
                let new = self.waiting[..old].partition_point(|other| other.key() < key);
                self.waiting[old].remaining = remaining;
                self.waiting[new..=old].rotate_right(1);
            }
        }
        while self.grant() {}
    }

    /// The next grant to send, in the order of the messages.
    #[inline]
    pub fn take_grant(&mut self) -> Option<Grant> {
        self.grants.pop_front()
    }

    /// Grants to the active messages. Answers whether one of them was granted to its end and so made
    /// place for another.
    fn grant(&mut self) -> bool {
        self.find_active();
        let limit = self.overcommitment as u64 * self.rtt_bytes;
        let lowest = usize::from(self.first_level) + self.overcommitment - self.active.len();
        let mut has_finished = false;
        for (rank, &place) in self.active.iter().enumerate() {
            let waiting = &mut self.waiting[place];
            let outstanding = waiting.remaining - waiting.ungranted;
            let room = (self.rtt_bytes - outstanding).min(limit - self.incoming);
            let granted = if waiting.ungranted <= room {
                waiting.ungranted
            } else {
                room - room % self.payload
            };
            if granted == 0 {
                continue;
            }
            waiting.ungranted -= granted;
            self.incoming += granted;
            has_finished |= waiting.ungranted == 0;
            self.grants.push_back(Grant {
                slot: waiting.message.slot,
                offset: waiting.message.size - waiting.ungranted,
                level: (lowest + rank) as u8,
            });
        }
        if has_finished {
            self.waiting.retain(|waiting| waiting.ungranted > 0);
        }
        has_finished
    }

    /// Finds the first messages of different senders, as many as overcommitment allows.
    fn find_active(&mut self) {
        self.active.clear();
        // Bit s is set when `active` has a message of a sender whose number modulo 64 is s.
        let mut seen = 0u64;
        for (place, waiting) in self.waiting.iter().enumerate() {
            if self.active.len() == self.overcommitment {
                break;
            }
            let source = waiting.message.source;
            let bit = 1 << (source % 64);
            let is_of = |&other: &usize| self.waiting[other].message.source == source;
            if seen & bit == 0 || !self.active.iter().any(is_of) {
                seen |= bit;
                self.active.push(place);
            }
        }
    }
}

#[cfg(test)]
#[path = "granter_tests.rs"]
mod tests;
