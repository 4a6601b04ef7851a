//! CoDel: drops, or marks, packets that leave a queue in which packets have waited too long for
//! some time (K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active Queue
//! Management", RFC 8289; the pseudo-code of its sec. 5).
//!
//! CoDel measures the sojourn time of a packet, from joining the queue to leaving it. A sojourn time of
//! TARGET or more is too long, unless the packet leaves at most one full packet behind. When sojourn
//! times have been too long for an INTERVAL, the queue enters drop state. In drop state the packet that
//! leaves is dropped, another one after INTERVAL, then after INTERVAL / √2, INTERVAL / √3 and so on. Drop
//! state ends when a packet has waited less than TARGET. A queue that enters drop state again within 16
//! INTERVALs of the next planned drop goes on with the rate that the queue had reached.
//!
//! Our choices, where the RFC is silent:
//! - Every data queue of a port has a state of its own.
//! - The RFC drops and takes the next packet of the queue in one call. Here the port takes its next
//!   packet, which with several queues may be another queue's. What the RFC decides about the
//!   packet behind the dropped one is decided when that packet leaves.
//! - A scheduler counts a dropped packet as served. Waiting for a pause to end is waiting.
//! - With `action = "mark"` the packet that the RFC drops is marked and sent, and the next mark is
//!   set at once, as in Linux (`include/net/codel_impl.h` with `ecn`): one packet that leaves is
//!   one mark at most.
//! - INTERVAL / √count is cut off to a picosecond.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use penstock_units::{Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Mark, Parameters, Policy};
use crate::config::{Surroundings, SwitchConfig};
use crate::passing::Passing;
use crate::stored::Stored;

/// The longest target and interval (ps), our choice: a hundred times the RFC's interval, 10 s.
const LONGEST: u64 = 10_000_000_000_000;

/// For how many intervals after its last cycle a queue remembers the rate of drops (RFC 8289 sec. 5.5).
const MEMORY: u64 = 16;

/// What CoDel does to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodelAction {
    /// It is dropped.
    Drop,
    /// It is marked and sent.
    Mark,
}

/// Parameters of CoDel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(deny_unknown_fields)]
pub struct CodelConfig {
    /// Waits below this are not too long (TARGET); at most the interval.
    #[schemars(
        range(min = 1_000, max = LONGEST),
        extend("default" = "5 ms", "source" = "RFC 8289 4.4, 5.3: 5 to 10 % of the interval")
    )]
    pub target: Time,
    /// How long waits have to be too long before the first drop, and from that to the second (INTERVAL).
    #[schemars(
        range(min = 1_000, max = LONGEST),
        extend("default" = "100 ms", "source" = "RFC 8289 4.3, 5.3: about the longest usual round trip")
    )]
    pub interval: Time,
    /// A packet that leaves no more than this in its queue is not dropped (maxpacket).
    #[schemars(
        range(min = 1, max = 65_535),
        extend("default" = "1500 B", "source" = "RFC 8289 5.3: the interface's MTU; Ethernet's")
    )]
    pub mtu: Bytes,
    /// Whether packets are dropped or marked.
    #[schemars(extend("default" = "drop", "source" = "RFC 8289 5.5"))]
    pub action: CodelAction,
}

impl Parameters for CodelConfig {
    fn check(&self, problems: &mut Problems) {
        let remedy =
            format!("it is above the interval, {}; make it 5 to 10 % of that", self.interval);
        problems.unless(self.target <= self.interval, "target", self.target, remedy);
    }

    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        let remedy = "backpressure credits pay for every packet that leaves, and count on its \
                      arrival; use action \
                      \"mark\", or another backpressure";
        let holds = self.action == CodelAction::Mark || !switch.backpressure.has_credits();
        problems.unless(holds, "marking.action", "drop", remedy);
    }

    fn has_marks(&self) -> bool {
        self.action == CodelAction::Mark
    }
}

impl CodelConfig {
    /// When the drop after number `count` (> 0) is due, that one having been due at `time` (`control_law`).
    fn next(&self, time: Time, count: u32) -> Time {
        let interval = u128::from(self.interval.as_ps());
        time + Time::from_ps((interval * interval / u128::from(count)).isqrt() as u64)
    }
}

/// CoDel at one queue. Names in brackets are the RFC's.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
struct QueueState {
    /// When its packets joined it, first to last.
    joined: VecDeque<Time>,
    /// Until when waits have to be too long before something is dropped (`first_above_time_`); none
    /// while they are not.
    ripe_at: Option<Time>,
    /// Whether it is in drop state (`dropping_`).
    is_dropping: bool,
    /// Whether the packet ahead was dropped in drop state, and the next drop waits for what comes behind it.
    has_dropped: bool,
    /// When the next drop is due (`drop_next_`).
    drop_next: Time,
    /// Drops since it entered drop state, or so many as the rate stands for (`count_`).
    count: u32,
    /// The same when it entered (`lastcount_`).
    last_count: u32,
}

impl QueueState {
    /// Whether the packet that leaves at `now`, having waited for `sojourn`, may be dropped; it
    /// leaves `left` bytes behind (`dodequeue`, `ok_to_drop`).
    fn is_ripe(&mut self, config: &CodelConfig, now: Time, sojourn: Time, left: u64) -> bool {
        if sojourn < config.target || left <= config.mtu.get() {
            self.ripe_at = None;
            return false;
        }
        now >= *self.ripe_at.get_or_insert(now + config.interval)
    }

    /// Whether that packet is dropped, or marked (`dequeue`).
    fn is_hit(&mut self, config: &CodelConfig, now: Time, sojourn: Time, left: u64) -> bool {
        let is_ripe = self.is_ripe(config, now, sojourn, left);
        if !self.is_dropping {
            if is_ripe {
                self.enter(config, now);
            }
            return is_ripe;
        }
        if core::mem::take(&mut self.has_dropped) && is_ripe {
            self.drop_next = config.next(self.drop_next, self.count);
        }
        self.is_dropping = is_ripe;
        if !is_ripe || now < self.drop_next {
            return false;
        }
        self.count += 1;
        match config.action {
            CodelAction::Drop => self.has_dropped = true,
            CodelAction::Mark => self.drop_next = config.next(self.drop_next, self.count),
        }
        true
    }

    /// Enters drop state at `now`, with the rate of the last time where that is not long ago.
    fn enter(&mut self, config: &CodelConfig, now: Time) {
        let delta = self.count - self.last_count;
        let is_recent = now.saturating_sub(self.drop_next) < config.interval * MEMORY;
        self.is_dropping = true;
        self.count = if delta > 1 && is_recent { delta } else { 1 };
        self.drop_next = config.next(now, self.count);
        self.last_count = self.count;
    }
}

/// CoDel at a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Codel {
    config: CodelConfig,
    /// By port and queue; a port has those whose packets have arrived.
    queues: Vec<Vec<QueueState>>,
}

impl Codel {
    pub(crate) fn new(config: &CodelConfig, facts: &SwitchFacts) -> Self {
        Codel { config: config.clone(), queues: vec![vec![]; facts.ports.len()] }
    }
}

impl Policy for Codel {
    #[inline]
    fn on_enqueue(&mut self, packet: &mut Passing<'_>) -> Mark {
        let queues = &mut self.queues[usize::from(packet.egress)];
        let queue = usize::from(packet.packet().queue);
        if queues.len() <= queue {
            queues.resize(queue + 1, QueueState::default());
        }
        queues[queue].joined.push_back(packet.now);
        Mark::default()
    }

    #[inline]
    fn on_dequeue(&mut self, packet: &mut Passing<'_>) -> Mark {
        let Passing { now, egress, queue_bytes, .. } = *packet;
        let queue = usize::from(packet.packet().queue);
        let state = &mut self.queues[usize::from(egress)][queue];
        let joined = state.joined.pop_front().expect("a packet leaves after it joined");
        let is_hit = state.is_hit(&self.config, now, now - joined, queue_bytes);
        match self.config.action {
            CodelAction::Drop => Mark { is_dropped: is_hit, ..Mark::default() },
            CodelAction::Mark => Mark::of(is_hit),
        }
    }

    fn audit(&self, stored: &Stored<'_>) -> Result<(), String> {
        for (egress, number, queue) in stored.queues() {
            let packets = queue.packets.packets(stored.pool).count();
            let state = self.queues[usize::from(egress)].get(usize::from(number));
            let joined = state.map_or(0, |state| state.joined.len());
            if packets != joined {
                return Err(format!(
                    "port {egress}, queue {number}: {packets} packets queued, but {joined} have a \
                     time of arrival"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "codel_tests.rs"]
mod tests;
