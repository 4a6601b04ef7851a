//! BFC with credits: a switch or a NIC sends only what the next switch has memory for, so that
//! nothing is ever dropped.
//!
//! P. Goyal et al., "Backpressure Flow Control", NSDI 2022, sec. 5, leaves this to future work: BFC
//! pauses an upstream queue only after a packet of it has come, so every queue can send for one HRTT
//! into a switch that is full. It names T. Anderson et al., "High Speed Switch Scheduling for Local Area
//! Networks", ACM TOCS 1993, and H. T. Kung's credits for ATM, which grant a buffer before it is used.
//! The design here is ours:
//!
//! - BFC's pauses stay as they are (`bfc`). They decide who *should* stop; credits decide who must.
//! - Each link has an account that all its upstream queues share, and each upstream queue a small one
//!   of its own. A packet is paid from the link's account while that holds a full packet, else from its
//!   queue's, and says which. A queue that finds neither waits.
//! - The switch grants bytes. Per account it counts what it has `granted`, what has `arrived` and what
//!   has `left`; granted − left is *outstanding*: it is on its way or stored, and has its place in the
//!   memory. A frame tells the upper end of `granted`, so a frame that is lost is repaired by the next.
//! - A link is granted anew, when a packet arrives or leaves, up to a window of unused credit: what
//!   keeps its wire busy. A window is set aside for each link. What is left of the memory goes to whoever
//!   asks first; BFC's pauses see to it that a congested queue stops asking.
//! - A queue's own account is granted again when its packet leaves. It is used only when the memory is
//!   all given out, and lets a queue that is not congested go on beside those that are: at least
//!   `queue_reserve` bytes in a hop's round trip.
//!
//! Invariant: what is outstanding on the links, each counted with at least its window, and all reserves
//! of queues together do not exceed the memory. A packet that arrives was outstanding, so there is room.
//!
//! The window of a link is HRTT·rate + `batch` + 3 `packet`: a hop's data; what is not worth a frame yet; a
//! packet that is being sent at either end, and less than a packet that is left.
//!
//! Left out: unused credit is not taken back from idle links, because their windows take a twelfth of
//! the memory (24 ports of 100 Gb/s and 12 MiB); a link that holds much is not made to give way.

mod config;

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::{Balance, ControlFrame, Packet, PacketFlags, PacketPool, Signal};
use penstock_units::Time;

use super::bfc::Bfc;
use super::policy::{Granted, KeptPause, Place, Policy, Stops};
use crate::admission::Admission;
use crate::passing::Passing;
use crate::port::Port;
use crate::stored::Stored;

pub use config::CreditsConfig;

/// The credit of a link (account 0 of its port) or of one of its upstream queues, in bytes since the
/// start.
#[derive(Clone, Copy, Debug)]
struct Account {
    granted: u64,
    arrived: u64,
    left: u64,
}

impl Account {
    fn of(granted: u64) -> Self {
        Account { granted, arrived: 0, left: 0 }
    }

    /// Granted and neither used up nor returned: on its way, stored, or not sent yet.
    #[inline]
    fn outstanding(&self) -> u64 {
        self.granted - self.left
    }

    /// Granted and not arrived.
    #[inline]
    fn unused(&self) -> u64 {
        self.granted - self.arrived
    }
}

/// BFC with credits at a switch: what it grants to its upstreams, and what its downstreams grant to it.
#[derive(Debug)]
pub(crate) struct Credits {
    bfc: Bfc,
    packet: u64,
    queue_reserve: u64,
    batch: u64,
    /// One row for each ingress port: its link, then its upstream queues.
    accounts: Vec<Account>,
    /// Data queues of an upstream.
    queues: usize,
    /// By ingress port.
    windows: Vec<u64>,
    /// Memory that is not the reserve of a queue.
    pool: u64,
    /// Of this, what is given out or set aside: outstanding on each link, at least its window.
    committed: u64,
    /// A grant that goes out behind the resume of the same departure.
    pending: Option<ControlFrame>,
    /// What the neighbour behind each port has granted; none for a host, which takes everything.
    balances: Vec<Option<Balance>>,
    /// The queue whose reserve is told again next, for each port.
    told_again: Vec<u16>,
}

impl Credits {
    /// The upstream of each port has as many data queues as a port of the switch.
    pub(crate) fn new(config: &CreditsConfig, place: &Place<'_>) -> Self {
        let &Place { facts, memory, queues, .. } = place;
        let ports = facts.ports.len();
        let queue_reserve = config.queue_reserve.get();
        let windows: Vec<u64> = facts.ports.iter().map(|port| config.window(facts, port)).collect();
        let mut accounts = Vec::with_capacity(ports * (queues + 1));
        for &window in &windows {
            accounts.push(Account::of(window));
            accounts.extend((0..queues).map(|_| Account::of(queue_reserve)));
        }
        Credits {
            bfc: Bfc::new(&config.pauses, place),
            packet: config.packet.get(),
            queue_reserve,
            batch: config.batch.get(),
            accounts,
            queues,
            committed: windows.iter().sum(),
            windows,
            pool: memory.saturating_sub((ports * queues) as u64 * queue_reserve),
            pending: None,
            balances: (0..ports).map(|_| None).collect(),
            told_again: vec![1; ports],
        }
    }

    #[inline]
    fn index(&self, ingress: u16, account: u16) -> usize {
        usize::from(ingress) * (self.queues + 1) + usize::from(account)
    }

    /// A packet leaves and its account gets its bytes back: a resume, a grant, or both; the grant is then
    /// pending.
    #[inline]
    fn give_back(&mut self, leaving: &mut Passing<'_>) -> Option<ControlFrame> {
        let packet = leaving.packet();
        let (ingress, paid_by) = (packet.ingress, paid_by(packet));
        let index = self.index(ingress, paid_by);
        let account = &mut self.accounts[index];
        let held = account.outstanding();
        account.left += u64::from(packet.wire_bytes);
        let grant = if paid_by == 0 {
            let window = self.windows[usize::from(ingress)];
            self.committed -= held.max(window) - account.outstanding().max(window);
            self.grant_link(ingress)
        } else {
            account.granted = account.left + self.queue_reserve;
            Some(self.frame(ingress, paid_by))
        };
        match self.bfc.on_dequeue(leaving) {
            None => grant,
            resume => {
                self.pending = grant;
                resume
            }
        }
    }

    /// Fills the unused credit of a link up to its window, as far as there is memory.
    fn grant_link(&mut self, ingress: u16) -> Option<ControlFrame> {
        let (index, window) = (self.index(ingress, 0), self.windows[usize::from(ingress)]);
        let account = &mut self.accounts[index];
        let unused = account.unused();
        let held = account.outstanding().max(window);
        let room = held - account.outstanding() + (self.pool - self.committed);
        let grant = window.saturating_sub(unused).min(room);
        let is_due = grant >= self.batch || (grant > 0 && unused < self.packet);
        if !is_due {
            return None;
        }
        account.granted += grant;
        self.committed += account.outstanding().max(window) - held;
        Some(self.frame(ingress, 0))
    }

    fn frame(&self, port: u16, account: u16) -> ControlFrame {
        let granted = self.accounts[self.index(port, account)].granted;
        ControlFrame { port, signal: Signal::Credit { account, granted } }
    }

    /// A packet of `queue` goes out of `egress`: pays for it, and stops the queues that cannot pay for
    /// another.
    #[inline]
    fn pay(&mut self, egress: u16, packet: &mut Packet) {
        if let Some(balance) = &mut self.balances[usize::from(egress)] {
            balance.pay(packet);
        } else {
            packet.flags.remove(PacketFlags::OWN_CREDIT);
        }
    }

    /// Stops the queues of `egress` that have run out of credit, and starts those that have got some.
    #[inline]
    fn apply(&mut self, egress: u16, port: &mut Port, pool: &PacketPool) {
        if let Some(balance) = &mut self.balances[usize::from(egress)] {
            while let Some((queue, is_dry)) = balance.take_change() {
                port.set_queue_dry(queue, is_dry, pool);
            }
        }
    }

    /// Checks the books against the packets that are `stored`, by account (bytes).
    fn audit_books(&self, stored: &[u64]) -> Result<(), String> {
        for (number, (account, &stored)) in self.accounts.iter().zip(stored).enumerate() {
            let (port, account_of) = (number / (self.queues + 1), number % (self.queues + 1));
            if account.granted < account.arrived || account.arrived - account.left != stored {
                return Err(format!(
                    "ingress {port}, credit account {account_of}: {stored} B stored, {account:?}"
                ));
            }
            if account_of > 0 && account.outstanding() > self.queue_reserve {
                return Err(format!("ingress {port}, queue {account_of}: {account:?}"));
            }
        }
        let links = self.accounts.iter().step_by(self.queues + 1);
        let held = links.zip(&self.windows).map(|(link, &window)| link.outstanding().max(window));
        let held: u64 = held.sum();
        if held != self.committed || held > self.pool {
            return Err(format!(
                "credits for {held} B are out, {} B counted, {} B are there",
                self.committed, self.pool
            ));
        }
        Ok(())
    }
}

impl Policy for Credits {
    /// A pause, or else a grant. A grant that has to stand back comes with the next packet; this one will at
    /// least leave.
    #[inline]
    fn on_enqueue(&mut self, joining: &mut Passing<'_>) -> Option<ControlFrame> {
        let packet = joining.packet();
        let (ingress, paid_by) = (packet.ingress, paid_by(packet));
        let index = self.index(ingress, paid_by);
        self.accounts[index].arrived += u64::from(packet.wire_bytes);
        let pause = self.bfc.on_enqueue(joining);
        pause.or_else(|| if paid_by == 0 { self.grant_link(ingress) } else { None })
    }

    /// A resume, a grant, or both; the grant is then taken with [`Policy::take_frame`]. The packet is paid
    /// for at the next switch.
    #[inline]
    fn on_dequeue(&mut self, leaving: &mut Passing<'_>) -> Option<ControlFrame> {
        let frame = self.give_back(leaving);
        let egress = leaving.egress;
        self.pay(egress, leaving.packet_mut());
        self.apply(egress, &mut leaving.ports[usize::from(egress)], leaving.pool);
        frame
    }

    /// A grant behind a resume.
    #[inline]
    fn take_frame(&mut self) -> Option<ControlFrame> {
        self.pending.take()
    }

    fn on_signal(&mut self, egress: u16, port: &mut Port, signal: Signal, pool: &PacketPool) {
        let Signal::Credit { account, granted } = signal else { return };
        if let Some(balance) = &mut self.balances[usize::from(egress)] {
            balance.on_credit(account, granted);
        }
        self.apply(egress, port, pool);
    }

    fn threshold(&self, admission: &Admission, ingress: u16, egress: u16, port: &Port) -> i64 {
        self.bfc.threshold(admission, ingress, egress, port)
    }

    fn standing_pauses(&self, admission: &Admission, ingress: u16) -> Vec<ControlFrame> {
        self.bfc.standing_pauses(admission, ingress)
    }

    fn repeat_interval(&self) -> Option<Time> {
        self.bfc.repeat_interval()
    }

    /// The bitmap, what the link has been granted and, in turn, one of its queues, in case a frame was lost.
    fn repeated_frames(&mut self, ingress: u16) -> [Option<ControlFrame>; 3] {
        let queue = self.told_again[usize::from(ingress)];
        self.told_again[usize::from(ingress)] = 1 + queue % self.queues as u16;
        let grants = [self.frame(ingress, 0), self.frame(ingress, queue)];
        [Some(self.bfc.bitmap_frame(ingress)), Some(grants[0]), Some(grants[1])]
    }

    fn opening_balance(&self, ingress: u16) -> Option<Balance> {
        let window = self.windows[usize::from(ingress)];
        Some(Balance::new(self.queues, self.packet, window, self.queue_reserve))
    }

    fn connect(&mut self, egress: u16, balance: Balance) {
        self.balances[usize::from(egress)] = Some(balance);
    }

    fn balance(&self, egress: u16) -> Option<&Balance> {
        self.balances[usize::from(egress)].as_ref()
    }

    fn ledger(&self, ingress: u16) -> Vec<Granted> {
        let row = self.index(ingress, 0)..self.index(ingress + 1, 0);
        let entry =
            |account: &Account| Granted { granted: account.granted, arrived: account.arrived };
        self.accounts[row].iter().map(entry).collect()
    }

    fn stops(&self) -> Option<Stops> {
        self.bfc.stops()
    }

    fn lasts(&self, admission: &Admission, pause: &KeptPause, shared: u64) -> bool {
        self.bfc.lasts(admission, pause, shared)
    }

    /// Credit is granted once only, and dry queues are stopped.
    fn audit(&self, stored: &Stored<'_>) -> Result<(), String> {
        let mut paid = vec![0; self.accounts.len()];
        for (_, _, packet) in stored.packets() {
            paid[self.index(packet.ingress, paid_by(packet))] += u64::from(packet.wire_bytes);
        }
        for (egress, number, queue) in stored.queues() {
            let is_dry = self.balance(egress).is_some_and(|balance| balance.is_dry(number));
            if is_dry != queue.is_dry {
                return Err(format!(
                    "port {egress}, queue {number}: without credit {is_dry}, stopped {}",
                    queue.is_dry
                ));
            }
        }
        self.audit_books(&paid)?;
        self.bfc.audit(stored)
    }
}

/// The account that `packet` was paid from: 0 its link's, else its upstream queue's.
#[inline]
fn paid_by(packet: &Packet) -> u16 {
    if packet.flags.contains(PacketFlags::OWN_CREDIT) { packet.upstream_queue } else { 0 }
}

#[cfg(test)]
#[path = "credits_tests.rs"]
mod tests;
