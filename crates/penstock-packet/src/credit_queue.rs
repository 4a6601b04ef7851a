//! Credits beside the data of a FIFO port. Credits have a queue and a rate of their own
//! (ExpressPass:
//! I. Cho, K. Jang and D. Han, "Credit-Scheduled Delay-Bounded Congestion Control for Datacenters",
//! SIGCOMM 2017, sec. 3.1).
//!
//! A credit that passes this port lets one data packet pass the link in the other direction, so the
//! rate of the credits bounds the rate of the data. A credit and its data packet share the capacity
//! of a link: the share of the credits is `credit / (credit + frame)`. A credit leaves ahead of
//! data as soon as the token bucket has as many bytes as the credit weighs. Credits beyond a short
//! queue are dropped; from the drops their source learns that it sends too many. Hosts shape their
//! credits with the same [`CreditQueue`].
//!
//! The bucket is kept as a time. A byte of credits is earned in the time in which the link carries
//! `(credit + frame) / credit` bytes; for each credit that time is rounded up to a picosecond.
//!
//! The paper's scripts (kaist-ina/ns2-xpass) have a queue of 8 credits, BFC's comparison one of 16.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Bytes, Fidelity, Time, Transmission};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fifo::Fifo;
use crate::id::PacketId;
use crate::packet::Packet;
use crate::pool::PacketPool;

/// The most credits that may wait or be saved; our choice: more than a data center has in flight.
const MOST_CREDITS: u32 = 1_000_000;

/// The largest frame that a credit can stand for (bytes); our choice: a jumbo frame with its headers.
pub const LARGEST_FRAME: u64 = 1 << 14;

/// Parameters of the credit queue of a port, in a switch and in a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreditShapingConfig {
    /// Credits that may wait.
    #[schemars(
        range(min = 1, max = MOST_CREDITS),
        extend("default" = 16, "source" = "BFC 6.2.1", "unit" = "credits")
    )]
    pub queue: u32,
    /// Credits that the token bucket can save.
    #[schemars(
        range(min = 1, max = MOST_CREDITS),
        extend(
            "default" = 2,
            "source" = "ExpressPass authors' simulator (kaist-ina/ns2-xpass): the paper's scripts",
            "unit" = "credits"
        )
    )]
    pub burst: u32,
    /// Mean credit on the wire.
    #[schemars(
        range(min = 1, max = LARGEST_FRAME),
        extend(
            "default" = "84 B",
            "source" = "ExpressPass 3.1: a minimum frame, its preamble and gap"
        )
    )]
    pub credit: Bytes,
    /// Full data packet on the wire, for which a credit stands.
    #[schemars(
        range(min = 1, max = LARGEST_FRAME),
        extend("default" = "1538 B", "source" = "ExpressPass 3.1: a full frame, its preamble and gap")
    )]
    pub frame: Bytes,
}

/// The credits of a port that wait, and its token bucket.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
#[repr(C)] // what a port asks most often comes first
pub struct CreditQueue {
    credits: Fifo,
    /// When the bucket will be full; in the past when it is full.
    full_at: Time,
    /// The time in which the tokens for the first credit are earned. Kept, because a port asks for it several
    /// times for each credit, and it needs a division.
    cost: Time,
    /// How long an empty bucket takes to fill.
    depth: Time,
    limit: u64,
    pair: u64,
    credit: u64,
    transmission: Transmission,
    dropped: u64,
}

impl CreditQueue {
    /// An empty queue at a link of `rate`, with a full bucket.
    pub fn new(config: &CreditShapingConfig, rate: BitRate) -> Self {
        let credit = config.credit.get();
        let mut queue = CreditQueue {
            credits: Fifo::default(),
            limit: u64::from(config.queue) * credit,
            transmission: Transmission::new(rate, Fidelity::Exact),
            credit,
            pair: credit + config.frame.get(),
            depth: Time::ZERO,
            full_at: Time::ZERO,
            cost: Time::ZERO,
            dropped: 0,
        };
        queue.depth = queue.earning_time(u64::from(config.burst) * credit);
        queue
    }

    /// The time in which `bytes` of tokens are earned.
    fn earning_time(&self, bytes: u64) -> Time {
        let many = bytes * self.pair;
        let many = match u32::try_from(many) {
            Ok(many) => self.transmission.time(many),
            Err(_) => self.transmission.rate().transmission_time(Bytes::new(many)),
        };
        Time::from_ps(many.as_ps().div_ceil(self.credit))
    }

    /// Appends a credit; false when there is no room, and the credit stays with the caller.
    #[must_use]
    pub fn push(&mut self, pool: &mut PacketPool, id: PacketId) -> bool {
        let has_room = self.credits.bytes() + u64::from(pool[id].wire_bytes) <= self.limit;
        if has_room {
            self.credits.push(pool, id);
            if self.credits.head() == id {
                self.weigh_first(pool);
            }
        } else {
            self.dropped += 1;
        }
        has_room
    }

    /// Another credit has become the first.
    fn weigh_first(&mut self, pool: &PacketPool) {
        self.cost = self.earning_time(u64::from(pool[self.credits.head()].wire_bytes));
    }

    /// Takes the first credit, if the tokens suffice for it at `now`.
    #[inline]
    pub fn pop(&mut self, now: Time, pool: &PacketPool) -> Option<PacketId> {
        if self.due()? > now {
            return None;
        }
        let id = self.credits.pop(pool)?;
        self.full_at = self.full_at.max(now) + self.cost;
        if !self.is_empty() {
            self.weigh_first(pool);
        }
        Some(id)
    }

    /// The time from which the tokens suffice for the first credit (ps); none when no credit waits.
    #[inline]
    pub fn due(&self) -> Option<Time> {
        let due = (self.full_at + self.cost).saturating_sub(self.depth);
        (!self.is_empty()).then_some(due)
    }

    /// Whether no credit waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.credits.is_empty()
    }

    /// Credits that were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The credits that wait, for checks.
    pub fn packets<'a>(&self, pool: &'a PacketPool) -> impl Iterator<Item = &'a Packet> + use<'a> {
        self.credits.packets(pool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_gigabits_a_second_carry_the_credits_of_the_released_code() {
        // BASELINES 11.2: 64,734,895 B/s of credits.
        let (credit, frame) = (Bytes::new(84), Bytes::new(1_538));
        let config = CreditShapingConfig { queue: 16, burst: 2, credit, frame };
        let queue = CreditQueue::new(&config, BitRate::from_gbps(10));
        let per_second = 84.0 / queue.earning_time(84).as_s_f64();
        assert_eq!(per_second as u64, 64_734_895);
    }
}
