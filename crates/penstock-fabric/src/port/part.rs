//! The parts of a port that others see: policies, drivers, measurements and checks.

use penstock_packet::{Carried, CreditQueue, Packet, PacketPool};
use penstock_units::BitRate;

use super::{Port, QueueForecast};
use crate::parts::Bitmap;
use crate::queue::DataQueue;
use crate::scheduling::policy::Policy as _;
use crate::scheduling::{self, Scheduler};

impl Port {
    /// Rate of the link behind the port.
    pub fn rate(&self) -> BitRate {
        self.rate
    }

    /// Data bytes queued.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Wire bytes sent so far, control included.
    #[inline]
    pub fn sent_bytes(&self) -> u64 {
        self.sent.bytes
    }

    /// `packet`, which was just taken, never gets onto the link.
    pub(crate) fn take_back(&mut self, packet: &Packet) {
        self.sent.take_back(packet);
    }

    /// What the link behind the port has carried so far.
    pub fn carried(&self) -> Carried {
        self.sent
    }

    /// Queues with data that are not paused (`N_active`, BFC sec. 3.3.2).
    #[inline]
    pub fn active(&self) -> u32 {
        self.active
    }

    /// Queues that the downstream switch has paused.
    pub fn paused_queues(&self) -> u32 {
        self.queue_pauses.paused()
    }

    /// All queues. The first entry stands for the control queue and is not used. Empty before the first
    /// packet or pause.
    #[inline]
    pub fn queues(&self) -> &[DataQueue] {
        &self.queues
    }

    /// The data queues without packets.
    #[inline]
    pub fn empty_queues(&self) -> &Bitmap {
        &self.empty
    }

    /// The data queues without packets that are not paused.
    #[inline]
    pub fn open_queues(&self) -> &Bitmap {
        &self.open
    }

    /// The scheduler's current round; 0 where the scheduler has no rounds.
    #[inline]
    pub fn round(&self) -> u64 {
        scheduling::dispatch!(&self.scheduler, policy => policy.round())
    }

    /// The first round for which none of the `queues` data queues is free yet, where the scheduler has
    /// rounds.
    #[inline]
    pub(crate) fn rounds_end(&self, queues: u64) -> u64 {
        scheduling::dispatch!(&self.scheduler, policy => policy.rounds_end(queues))
    }

    /// Whether a flow that left `queue` empty would gain nothing from a new queue.
    #[inline]
    pub fn is_settled(&self, queue: u16) -> bool {
        let queue = &self.queues[usize::from(queue)];
        queue.packets.is_empty()
            && queue.finish <= scheduling::dispatch!(&self.scheduler, policy => policy.round())
    }

    /// Whether a control packet waits.
    #[inline]
    pub(crate) fn has_control(&self) -> bool {
        !self.control.is_empty()
    }

    /// Whether a data packet waits that may leave.
    #[inline]
    pub(crate) fn may_send_data(&self) -> bool {
        self.active > 0 && !self.is_held
    }

    /// Whether the port has something to send now. A waiting credit may still have to wait for tokens.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.may_send_data()
            || self.has_control()
            || self.credits().is_some_and(|credits| !credits.is_empty())
    }

    /// The queue of credits, where credits have a queue of their own.
    #[inline]
    pub fn credits(&self) -> Option<&CreditQueue> {
        scheduling::dispatch!(&self.scheduler, policy => policy.credits())
    }

    /// FAFC's forecast for the queues.
    #[inline]
    pub fn forecast(&self) -> QueueForecast {
        self.forecast
    }

    /// The packets in `queue`, head first, for checks.
    pub fn packets_in<'a>(
        &self,
        queue: usize,
        pool: &'a PacketPool,
    ) -> impl Iterator<Item = &'a Packet> + use<'a> {
        self.queues[queue].packets.packets(pool)
    }

    /// The packets in the control queue, head first, for checks.
    pub fn control_packets<'a>(
        &self,
        pool: &'a PacketPool,
    ) -> impl Iterator<Item = &'a Packet> + use<'a> {
        self.control.packets(pool)
    }
}
