//! The NIC of a host: which of its flows sends the next data packet.
//!
//! Flows are served packet by packet, lowest class first. Within a class flows are served in turn or by
//! fewest remaining bytes (SRF). Control packets (acknowledgements, pause frames) do not pass through
//! the NIC: the host sends them first. Flows live in an array of the caller, and their slots in the
//! array name them. Every slot is at one NIC at most.
//!
//! The calls per flow are [`Nic::start`] once; [`Nic::on_change`] after anything that may have changed
//! the flow's readiness (an acknowledgement, a timeout, a switch drop); [`Nic::finish`] once. The calls
//! per packet are [`Nic::next`], then [`Sender::send`], then [`Nic::after_send`]. When `next` finds
//! nothing, the caller sleeps until [`Nic::wake_at`] or the next input.
//!
//! Reading order: `queued`, the NIC of every exact run; `polled`, the NIC of the ns-3 HPCC simulator and
//! of the BFC that was built on it.
//!
//! Sources: round robin, strict priority and pauses per class from the NIC model of
//! alibaba-edu/High-Precision-Congestion-Control; queues and their pauses from P. Goyal et al.,
//! "Backpressure Flow Control", NSDI 2022, Sec. 3.3.2; SRF at the NIC from its App. A.2; NICs that
//! do not react from its App. A.8.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::Epochs;
use penstock_units::random::Pcg32;
use penstock_units::{Fidelity, Time};

use crate::sender::Sender;

pub(crate) mod config;
mod list;
mod polled;
mod queued;
mod queues;
mod ready;
pub(crate) mod seat;
mod slot_heap;

pub use config::{MAXIMUM_CLASSES, MAXIMUM_QUEUES, NicConfig, NicScheduling};
use polled::PolledNic;
use queued::QueuedNic;
use seat::Seat;

/// One NIC.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Nic {
    kind: Kind,
}

#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
enum Kind {
    Queued(QueuedNic),
    Polled(PolledNic),
}

impl Nic {
    /// A NIC without flows, for `classes` priority classes.
    ///
    /// # Panics
    /// When `classes` is not in 1 to [`MAXIMUM_CLASSES`], or is more than the queues suffice for
    /// ([`NicConfig::check_classes`]).
    pub fn new(config: &NicConfig, classes: u32, fidelity: Fidelity) -> Self {
        assert!((1..=MAXIMUM_CLASSES).contains(&classes), "a NIC has 1 to 8 classes");
        assert!(config.suffices_for(classes), "every class needs a queue");
        let kind = match fidelity {
            Fidelity::Exact => Kind::Queued(QueuedNic::new(config, classes)),
            Fidelity::Ns3Hpcc | Fidelity::Ns3Bfc => Kind::Polled(PolledNic::new(config, fidelity)),
        };
        Nic { kind }
    }

    /// The same NIC, whose queues have epochs of `bits` bits ([`penstock_packet::epochs`]).
    pub fn with_epochs(mut self, bits: u32) -> Self {
        if let Kind::Queued(nic) = &mut self.kind {
            nic.epochs = Epochs::new(bits);
        }
        self
    }

    /// The label that packets from `queue` carry.
    #[inline]
    pub fn label(&self, queue: u16) -> u16 {
        match &self.kind {
            Kind::Queued(nic) => nic.label(queue),
            Kind::Polled(_) => queue,
        }
    }

    /// The label that replies to flow `number` carry, where they carry one.
    #[inline]
    pub fn reply_label(&self, number: u64) -> Option<u16> {
        match &self.kind {
            Kind::Queued(_) => None,
            Kind::Polled(nic) => nic.reply_label(number as u32),
        }
    }

    /// Flow `number` starts in `slot`, with `class` < the NIC's classes. The flow gets its queue and
    /// may send. Answers whether this ends a pause of the queue.
    pub fn start(
        &mut self,
        slot: u32,
        (class, number): (u8, u64),
        flows: &mut [Sender],
        rng: &mut Pcg32,
    ) -> bool {
        let seat = Seat::new(class, number);
        match &mut self.kind {
            Kind::Queued(nic) => nic.start(slot, seat, flows, rng),
            Kind::Polled(nic) => {
                nic.start(slot, seat, flows, rng);
                false
            }
        }
    }

    /// The flow in `slot` is complete and leaves the NIC and its queue.
    pub fn finish(&mut self, slot: u32, flows: &mut [Sender]) {
        match &mut self.kind {
            Kind::Queued(nic) => nic.finish(slot, flows),
            Kind::Polled(nic) => nic.finish(slot),
        }
    }

    /// The readiness of the flow in `slot` may have changed. Answers whether this ends a pause of a queue.
    #[inline]
    pub fn on_change(
        &mut self,
        slot: u32,
        now: Time,
        flows: &mut [Sender],
        rng: &mut Pcg32,
    ) -> bool {
        match &mut self.kind {
            Kind::Queued(nic) => nic.on_change(slot, now, flows, rng),
            Kind::Polled(nic) => {
                nic.on_change(slot, flows);
                false
            }
        }
    }

    /// The flow that sends next at `now`, if any flow can. The flow stays first until
    /// [`Nic::after_send`].
    #[inline]
    pub fn next(&mut self, now: Time, flows: &mut [Sender]) -> Option<u32> {
        match &mut self.kind {
            Kind::Queued(nic) => nic.next(now, flows),
            Kind::Polled(nic) => nic.next(now, flows),
        }
    }

    /// The flow in `slot` has sent a packet at `now`. The flow goes to the back of its class. After its
    /// last packet the flow also leaves its queue, as a switch frees the queue of a flow without
    /// packets.
    #[inline]
    pub fn after_send(&mut self, slot: u32, now: Time, flows: &mut [Sender]) {
        if let Kind::Queued(nic) = &mut self.kind {
            nic.after_send(slot, now, flows);
        }
    }

    /// When a NIC that has found nothing to send at `now` looks again because of pacing (ps).
    #[inline]
    pub fn wake_at(&self, now: Time, flows: &[Sender]) -> Option<Time> {
        match &self.kind {
            Kind::Queued(nic) => nic.wake_at(),
            Kind::Polled(nic) => nic.wake_at(now, flows),
        }
    }

    /// Whether an unpaused class has a flow in turn. `false` means that [`Nic::next`] finds nothing
    /// before [`Nic::wake_at`]. After `true`, `next` may still find nothing.
    #[inline]
    pub fn has_ready(&self) -> bool {
        match &self.kind {
            Kind::Queued(nic) => nic.has_ready(),
            Kind::Polled(nic) => nic.has_flows(),
        }
    }

    /// The first switch paused the queue with this label.
    pub fn pause_queue(&mut self, label: u16) {
        match &mut self.kind {
            Kind::Queued(nic) => nic.pause_queue(label),
            Kind::Polled(nic) => nic.set_queue_paused(label, true),
        }
    }

    /// The first switch resumed the queue with this label.
    pub fn resume_queue(&mut self, label: u16, flows: &mut [Sender]) {
        match &mut self.kind {
            Kind::Queued(nic) => nic.resume_queue(label, flows),
            Kind::Polled(nic) => nic.set_queue_paused(label, false),
        }
    }

    /// The first switch sent a bitmap of queues in an epoch: queue q is paused when bit q is set, and
    /// resumes otherwise.
    pub fn set_paused_queues(&mut self, (epoch, queues): (u8, u128), flows: &mut [Sender]) {
        if let Kind::Queued(nic) = &mut self.kind {
            nic.set_paused_queues((epoch, queues), flows);
        }
    }

    /// `queue` has run out of credit at the first switch, or has got some again. Every NIC obeys.
    pub fn set_queue_dry(&mut self, queue: u16, is_dry: bool, flows: &mut [Sender]) {
        if let Kind::Queued(nic) = &mut self.kind {
            nic.set_queue_dry(queue, is_dry, flows);
        }
    }

    /// The queues that are paused, one bit each. Under fidelity ns3-bfc any bits, as many as queues are
    /// paused.
    #[inline]
    pub fn paused_queues(&self) -> u128 {
        match &self.kind {
            Kind::Queued(nic) => nic.paused_queues(),
            Kind::Polled(nic) => nic.paused_queues(),
        }
    }

    /// The classes that are paused, one bit each.
    #[inline]
    pub fn paused_classes(&self) -> u32 {
        match &self.kind {
            Kind::Queued(nic) => nic.paused_classes(),
            Kind::Polled(nic) => nic.paused_classes(),
        }
    }

    /// Whether `queue` is paused.
    #[inline]
    pub fn is_queue_paused(&self, queue: u16) -> bool {
        matches!(&self.kind, Kind::Queued(nic) if nic.is_queue_paused(queue))
    }

    /// The first switch paused `class` (a PFC frame), which is below the NIC's classes.
    #[inline]
    pub fn pause_class(&mut self, class: u8) {
        match &mut self.kind {
            Kind::Queued(nic) => nic.pause_class(class),
            Kind::Polled(nic) => nic.pause_class(class),
        }
    }

    /// The first switch resumed `class`.
    #[inline]
    pub fn resume_class(&mut self, class: u8) {
        match &mut self.kind {
            Kind::Queued(nic) => nic.resume_class(class),
            Kind::Polled(nic) => nic.resume_class(class),
        }
    }
}
