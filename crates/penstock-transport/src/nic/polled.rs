//! The NIC of the ns-3 HPCC simulator, which scans its flows for every packet.
//!
//! Source: `RdmaEgressQueue` and `QbbNetDevice` of alibaba-edu/High-Precision-Congestion-Control. Flows
//! stand in a row in the order in which they started. A scan begins behind the place that sent last.
//! The scan takes the first flow that is not paused, has bytes left, is within its window and is past
//! its pacing gap. A flow that has ended stays in the row until a scan passes it. Then all flows behind
//! it move up, while the place that sent last keeps its number. At that moment a turn can be lost or
//! given twice.
//!
//! The NIC's alarm has peculiarities that a comparison needs. The alarm is set for the earliest pacing
//! gap of all flows with bytes left, blocked and paused flows included. The alarm is not set when that
//! gap is over already. The driver does not move an alarm that is set.
//!
//! NASA-NJU/Pyrrha-NS3 (commit 3765687) has BFC on this NIC. There an ended flow stays in the row for
//! ever, so no turn is lost. The switch pauses single flows, by their number. With queues, a new flow gets
//! the lowest queue without a flow, paused or not, and gives it back when its last acknowledgement has
//! come.
//!
//! Cost: linear in the number of flows per packet, as in that simulator. The scan passes a flow that
//! has nothing left to send without reading the flow's state. On the reference's incasts with DCQCN,
//! six of ten flows are passed in this way.

use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::random::Pcg32;
use penstock_units::{Fidelity, Time};

use super::config::NicConfig;
use super::queues::Queues;
use super::seat::{Place, Seat};
use crate::sender::Sender;

/// How many flows have a number of their own in packets and pauses (our choice: all that 16 bits tell
/// apart; number 0 cannot be paused).
const FLOW_LABELS: u32 = u16::MAX as u32;

/// A flow in the row.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Entry {
    slot: u32,
    class: u8,
    /// The queue that a pause names.
    label: u16,
    has_ended: bool,
    /// Whether a scan has found nothing left to send, and nothing has changed since. The flow's seat is
    /// then [`Place::Waiting`], else [`Place::Ready`].
    is_spent: bool,
}

/// A NIC that scans its flows.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct PolledNic {
    row: Vec<Entry>,
    /// The place in `row` that sent last.
    last: usize,
    paused_classes: u32,
    /// The queues that are paused, by label.
    paused_queues: Vec<u16>,
    queues: Queues,
    fidelity: Fidelity,
}

impl PolledNic {
    /// A NIC without flows.
    pub(super) fn new(config: &NicConfig, fidelity: Fidelity) -> Self {
        PolledNic {
            row: Vec::new(),
            last: 0,
            paused_classes: 0,
            paused_queues: Vec::new(),
            queues: Queues::new(config.queues, 1),
            fidelity,
        }
    }

    /// A flow starts. It gets its queue: a number of its own where the NIC has no queues.
    pub(super) fn start(&mut self, slot: u32, seat: Seat, flows: &mut [Sender], rng: &mut Pcg32) {
        let label = match (self.fidelity, self.queues.assign_lowest(rng)) {
            (Fidelity::Ns3Bfc, 0) => label_of(seat.number),
            (_, queue) => queue,
        };
        let flow = &mut flows[slot as usize];
        flow.seat = Seat { place: Place::Ready, ..seat };
        flow.set_queue(label);
        self.row.push(Entry { slot, class: seat.class, label, has_ended: false, is_spent: false });
    }

    /// The flow in `slot` may have something to send again.
    #[inline]
    pub(super) fn on_change(&mut self, slot: u32, flows: &mut [Sender]) {
        let flow = &mut flows[slot as usize];
        if flow.seat.place == Place::Waiting && flow.remaining_unsent() > 0 {
            flow.seat.place = Place::Ready;
            if let Some(entry) = self.open_entry(slot) {
                entry.is_spent = false;
            }
        }
    }

    /// The label of replies to a flow: the number by which both hosts know it. Nobody obeys its pauses.
    pub(super) fn reply_label(&self, number: u32) -> Option<u16> {
        (self.fidelity == Fidelity::Ns3Bfc).then(|| label_of(number))
    }

    pub(super) fn finish(&mut self, slot: u32) {
        if let Some(entry) = self.open_entry(slot) {
            entry.has_ended = true;
            let label = entry.label;
            self.queues.release(label);
        }
    }

    fn open_entry(&mut self, slot: u32) -> Option<&mut Entry> {
        self.row.iter_mut().find(|entry| entry.slot == slot && !entry.has_ended)
    }

    pub(super) fn next(&mut self, now: Time, flows: &mut [Sender]) -> Option<u32> {
        let behind = match self.row.len() {
            0 => return None,
            count => (self.last + 1) % count,
        };
        let mut first_ended = None;
        let mut found = None;
        for place in (behind..self.row.len()).chain(0..behind) {
            let entry = self.row[place];
            if entry.has_ended {
                first_ended = Some(first_ended.map_or(place, |first: usize| first.min(place)));
            } else if !entry.is_spent && self.may_send(place, now, flows) {
                found = Some(place);
                break;
            }
        }
        let slot = found.map(|place| self.row[place].slot);
        if let Some(first) = first_ended.filter(|_| self.fidelity == Fidelity::Ns3Hpcc) {
            // The place of the flow that was found, after the ended flows before it have left the row.
            let gone =
                |place| self.row[first..place].iter().filter(|entry| entry.has_ended).count();
            found = found.map(|place| if place > first { place - gone(place) } else { place });
            let mut place = 0;
            self.row.retain(|entry| {
                place += 1;
                place <= first || !entry.has_ended
            });
        }
        self.last = found.unwrap_or(self.last);
        slot
    }

    /// Whether flows are in the row, ended ones included. If so, the NIC scans again after every
    /// packet, because a scan may shorten the row.
    pub(super) fn has_flows(&self) -> bool {
        !self.row.is_empty()
    }

    fn may_send(&mut self, place: usize, now: Time, flows: &mut [Sender]) -> bool {
        let entry = &mut self.row[place];
        let flow = &mut flows[entry.slot as usize];
        if flow.remaining_unsent() == 0 {
            entry.is_spent = true;
            flow.seat.place = Place::Waiting;
            return false;
        }
        flow.next_available() <= now
            && self.paused_classes & (1 << entry.class) == 0
            && !self.paused_queues.contains(&entry.label)
            && flow.in_flight() < flow.window()
    }

    pub(super) fn wake_at(&self, now: Time, flows: &[Sender]) -> Option<Time> {
        let open = self.row.iter().filter(|entry| !entry.has_ended && !entry.is_spent);
        let unsent = open.map(|entry| &flows[entry.slot as usize]);
        let gaps = unsent.filter(|flow| flow.remaining_unsent() > 0).map(Sender::next_available);
        gaps.min().filter(|&gap| gap > now)
    }

    pub(super) fn paused_classes(&self) -> u32 {
        self.paused_classes
    }

    /// The first switch paused or resumed the queue with this label. Queue 0 is never paused.
    pub(super) fn set_queue_paused(&mut self, label: u16, is_paused: bool) {
        self.paused_queues.retain(|&paused| paused != label);
        if is_paused && label > 0 {
            self.paused_queues.push(label);
        }
    }

    /// As many bits as queues are paused.
    pub(super) fn paused_queues(&self) -> u128 {
        let count = self.paused_queues.len() as u32;
        u128::MAX.checked_shr(u128::BITS - count.min(u128::BITS)).unwrap_or(0)
    }

    pub(super) fn pause_class(&mut self, class: u8) {
        self.paused_classes |= 1 << class;
    }

    pub(super) fn resume_class(&mut self, class: u8) {
        self.paused_classes &= !(1 << class);
    }
}

/// The label of a flow with a number of its own.
fn label_of(number: u32) -> u16 {
    1 + (number % FLOW_LABELS) as u16
}
