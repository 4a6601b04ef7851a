//! Transfers inside servers: between hosts of a partition and others, by the links inside their servers.
//!
//! What it is: the times of such transfers. A transfer takes its bytes at the rate of the links, and then
//! their delay; its source learns another delay later that the last byte has arrived. The transfers of one
//! sending host follow each other in the order in which they start. What it is not: there are no packets
//! here, and no scheme.
//! Invariant: all times of a transfer follow when it starts, from what its source knows. Wherever a network
//! can be cut the delay is a window at least. So a receipt reaches another partition before it is due.

use std::collections::{BTreeMap, BTreeSet};

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::Observer;
use penstock_units::{Bytes, Time};

use super::Partition;
use super::lifetime::Start;
use crate::measure::flows::FlowRecord;
use crate::topology::InnerLinks;

/// The last byte of a transfer arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub(crate) struct Receipt {
    /// When.
    pub time: Time,
    /// The flow.
    number: u64,
    /// The receiving host.
    destination: u32,
    /// What the flow has brought (bytes).
    pub size: u64,
}

/// A transfer of whose receipt its source does not know yet.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Transfer {
    start: Start,
    /// When the last byte arrives.
    received: Time,
    /// From the start to the acknowledgement, alone on the link.
    ideal: Time,
}

impl Transfer {
    /// Its number in the whole run.
    pub(crate) fn number(&self) -> u64 {
        self.start.number
    }

    /// The facts about the transfer at `now`, when it may have ended.
    pub(crate) fn record(&self, now: Time, has_ended: bool) -> FlowRecord {
        let Start { number, arrival } = self.start;
        FlowRecord {
            flow: number,
            source: arrival.source,
            destination: arrival.destination,
            size: arrival.size,
            start: arrival.time,
            completion: has_ended.then(|| now - arrival.time),
            ideal: self.ideal,
            label: arrival.label,
            class: arrival.class,
            delivered: if self.received <= now { arrival.size } else { 0 },
            retransmitted_packets: 0,
        }
    }
}

/// The transfers inside servers of which a partition knows.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct Inner {
    /// By host that has sent: when the last bit of its last transfer leaves.
    free_at: BTreeMap<u32, Time>,
    /// Transfers from hosts here, by when they are acknowledged, and number.
    sending: BTreeMap<(Time, u64), Transfer>,
    /// What hosts here receive, in order.
    receipts: BTreeSet<Receipt>,
    /// Payload of all transfers that have started here (bytes).
    pub sent: u64,
    /// Payload of all transfers that hosts here have received (bytes).
    pub received: u64,
}

impl Inner {
    /// When something happens next.
    #[inline]
    pub(super) fn due(&self) -> Option<Time> {
        let is_idle = self.receipts.is_empty() && self.sending.is_empty();
        if is_idle { None } else { self.next() }
    }

    /// As [`Inner::due`], out of line: most networks have no links inside servers.
    #[inline(never)]
    fn next(&self) -> Option<Time> {
        let receipt = self.receipts.first().map(|receipt| receipt.time);
        let acknowledged = self.sending.first_key_value().map(|(&(time, _), _)| time);
        // A transfer without an end in the range of times never ends.
        receipt.into_iter().chain(acknowledged).min().filter(|&time| time < Time::NEVER)
    }

    /// A host here will receive a transfer.
    pub(super) fn expect(&mut self, receipt: Receipt) {
        self.receipts.insert(receipt);
    }

    /// The transfers from hosts here that have not ended.
    pub(crate) fn sending(&self) -> impl Iterator<Item = &Transfer> {
        self.sending.values()
    }

    /// The payload of transfers to hosts here that has not arrived (bytes).
    pub(crate) fn flying(&self) -> u64 {
        self.receipts.iter().map(|receipt| receipt.size).sum()
    }

    /// The transfers from hosts here that have not ended at `now`, and their payload that has not arrived
    /// (bytes).
    pub(super) fn backlog(&self, now: Time) -> (u64, i128) {
        let late = self.sending().filter(|transfer| transfer.received > now);
        let sizes = late.map(|transfer| i128::from(transfer.start.arrival.size));
        (self.sending.len() as u64, sizes.sum())
    }
}

impl<O: Observer> Partition<O> {
    /// A flow starts whose two hosts `links` join.
    #[cold]
    pub(super) fn start_transfer(&mut self, now: Time, start: &Start, links: InnerLinks) {
        let arrival = start.arrival;
        let owner = |host: u32| self.setting.placement.of_node(host).0;
        let [from, to] = [arrival.source, arrival.destination].map(owner);
        if from != self.number {
            return; // The destination hears of the flow when the flow is received.
        }
        self.measured.on_flow_start(&arrival);
        let lasts = links.rate.transmission_time(Bytes::new(arrival.size));
        let free_at = self.inner.free_at.entry(arrival.source).or_default();
        *free_at = now.max(*free_at).saturating_add(lasts);
        let received = free_at.saturating_add(links.delay);
        let acknowledged = received.saturating_add(links.delay);
        let ideal = lasts.saturating_add(links.delay).saturating_add(links.delay);
        let transfer = Transfer { start: *start, received, ideal };
        self.inner.sending.insert((acknowledged, start.number), transfer);
        self.inner.sent += arrival.size;
        let (number, destination, size) = (start.number, arrival.destination, arrival.size);
        let receipt = Receipt { time: received, number, destination, size };
        if to == self.number {
            return self.inner.expect(receipt);
        }
        let mail = &mut self.outbox[to];
        mail.note_time(received);
        mail.receipts.push(receipt);
    }

    /// Something is due inside a server: a transfer is received, or else one is acknowledged.
    pub(super) fn on_inner(&mut self, now: Time) {
        if self.inner.receipts.first().is_some_and(|receipt| receipt.time <= now) {
            let Some(receipt) = self.inner.receipts.pop_first() else { return };
            self.inner.received += receipt.size;
            self.measured.arrived_payload += receipt.size;
            if self.setting.plan.is_receipt_awaited(receipt.number) {
                self.on_received(now, receipt.number, receipt.destination);
            }
            return;
        }
        let Some((_, transfer)) = self.inner.sending.pop_first() else { return };
        self.measured.on_flow_end(transfer.record(now, true));
        self.end_windows(now);
        self.on_acknowledged(now, transfer.number(), transfer.start.arrival.source);
    }
}
