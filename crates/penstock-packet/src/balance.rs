//! The credits at the sending end of a link: how much a switch port or a NIC may still send.

use alloc::vec::Vec;

use crate::packet::{Packet, PacketFlags};
use borsh::{BorshDeserialize, BorshSerialize};

/// Credit of a link or of a queue, in bytes counted from the start.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Credit {
    granted: u64,
    paid: u64,
}

impl Credit {
    #[inline]
    fn holds(&self, bytes: u64) -> bool {
        self.granted >= self.paid + bytes
    }
}

/// The credits that the next switch has granted to the queues of a port or a NIC. A queue is *dry*,
/// and must not send, when neither the link's account nor its own holds a full packet.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Balance {
    packet: u64,
    /// The account of the link, then the accounts of queues 1, 2, …
    credits: Vec<Credit>,
    /// Bit q is set while queue q is dry.
    dry: u128,
    /// The value of `dry` as far as [`Balance::take_change`] has told of it.
    told: u128,
    /// The queue that sent last.
    last: u16,
}

impl Balance {
    /// Accounts for `queues` < 128 data queues and packets of at most `packet` bytes. From the
    /// start the link is granted `link` bytes and each queue `queue` bytes.
    pub fn new(queues: usize, packet: u64, link: u64, queue: u64) -> Self {
        let mut credits = Vec::with_capacity(queues + 1);
        credits.push(Credit { granted: link, paid: 0 });
        credits.extend((0..queues).map(|_| Credit { granted: queue, paid: 0 }));
        Balance { packet, credits, dry: 0, told: 0, last: 0 }
    }

    /// Pays for `packet`, which its queue sends now, and writes into the packet which account paid.
    #[inline]
    pub fn pay(&mut self, packet: &mut Packet) {
        self.last = packet.queue;
        let had_link = self.credits[0].holds(self.packet);
        let account = if had_link { 0 } else { packet.queue };
        if had_link {
            packet.flags.remove(PacketFlags::OWN_CREDIT);
        } else {
            packet.flags.insert(PacketFlags::OWN_CREDIT);
        }
        self.credits[usize::from(account)].paid += u64::from(packet.wire_bytes);
        if !self.credits[0].holds(self.packet) {
            if had_link {
                self.dry = self.without_own();
            } else if !self.credits[usize::from(account)].holds(self.packet) {
                self.dry |= 1 << account;
            }
        }
    }

    /// The queues whose own account does not hold a full packet.
    fn without_own(&self) -> u128 {
        let own = self.credits.iter().enumerate().skip(1);
        own.filter(|(_, credit)| !credit.holds(self.packet))
            .fold(0, |bits, (queue, _)| bits | 1 << queue)
    }

    /// Notes that `account` has been granted `granted` bytes since the start. Accounts that do not
    /// exist are ignored, as hardware ignores a corrupted frame. Idempotent.
    pub fn on_credit(&mut self, account: u16, granted: u64) {
        let Some(credit) = self.credits.get_mut(usize::from(account)) else { return };
        credit.granted = credit.granted.max(granted);
        if credit.holds(self.packet) {
            self.dry &= if account == 0 { 0 } else { !(1 << account) };
        }
    }

    /// A queue that has become dry, or is no longer dry, and was not returned yet. The turn goes
    /// round the queues, from the one behind the queue that sent last, so that grants of one packet
    /// each reach every queue.
    #[inline]
    pub fn take_change(&mut self) -> Option<(u16, bool)> {
        let changed = self.dry ^ self.told;
        if changed == 0 {
            return None;
        }
        let behind = changed & (u128::MAX << self.last << 1);
        let queue = if behind == 0 { changed } else { behind }.trailing_zeros();
        self.told ^= 1 << queue;
        Some((queue as u16, self.dry & (1 << queue) != 0))
    }

    /// Whether `queue` must not send.
    pub fn is_dry(&self, queue: u16) -> bool {
        self.dry & (1 << queue) != 0
    }

    /// What has been paid from `account` (bytes), for checks.
    pub fn paid(&self, account: u16) -> u64 {
        self.credits[usize::from(account)].paid
    }

    /// What `account` has been granted (bytes), for checks.
    pub fn granted(&self, account: u16) -> u64 {
        self.credits[usize::from(account)].granted
    }
}
