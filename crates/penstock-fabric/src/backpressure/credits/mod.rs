//! BFC with credits: a switch or a NIC sends only packets for which the next switch has memory, so that
//! nothing is ever dropped.
//!
//! P. Goyal et al., "Backpressure Flow Control", NSDI 2022, sec. 5, leaves credits to future work. BFC
//! pauses an upstream queue only after a packet of that queue has come, so every queue can send for one
//! HRTT into a switch that is full. The paper names T. Anderson et al., "High Speed Switch Scheduling
//! for Local Area Networks", ACM TOCS 1993, and H. T. Kung's credits for ATM, which grant a buffer
//! before it is used. The design here is ours:
//!
//! - BFC's pauses stay as they are (`bfc`). Pauses decide who *should* stop; credits decide who must.
//! - Each link has an account that all its upstream queues share, and each upstream queue has a small
//!   account of its own. The link's account pays for a packet while it holds a full packet, else the
//!   account of the packet's queue pays. The packet names the account. A queue waits when neither
//!   account can pay.
//! - The switch grants bytes. Per account it counts the bytes `granted`, `arrived` and `left`. granted
//!   − left is *outstanding*: these bytes are on their way or stored, and have their place in the
//!   memory. A frame tells the upper end of `granted`, so the next frame repairs the loss of a frame.
//! - When a packet arrives or leaves, its link is granted new credit, up to a window of unused credit
//!   that keeps the link's wire busy. A window is set aside for each link. The rest of the memory goes
//!   to the links that ask first; BFC's pauses make a congested queue stop asking.
//! - A queue's own account is granted again when its packet leaves. The account is used only when all
//!   memory is given out. It lets a queue without congestion continue beside congested queues, with at
//!   least `queue_reserve` bytes in a hop's round trip.
//!
//! Invariant: the outstanding bytes of the links, each counted with at least its window, and all
//! reserves of queues together do not exceed the memory. A packet that arrives was outstanding, so
//! there is room.
//!
//! The window of a link is HRTT·rate + `batch` + 3 `packet`. HRTT·rate is a hop's data. `batch` is the
//! credit that is not worth a frame yet. Of the three packets, one is being sent at each end of the
//! link, and less than one is left over.
//!
//! Left out: unused credit is not taken back from idle links, because their windows take a twelfth of
//! the memory (24 ports of 100 Gb/s and 12 MiB). A link that holds much memory does not have to give
//! way.

mod config;

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{Balance, ControlFrame, Packet, PacketFlags, PacketPool, Signal};

use super::bfc::Bfc;
use super::policy::{Granted, KeptPause, Place, Policy, Stops};
use crate::admission::Admission;
use crate::passing::Passing;
use crate::port::Port;
use crate::stored::Stored;

pub use config::CreditsConfig;

/// The credit of a link (account 0 of its port) or of one of its upstream queues, in bytes since the
/// start.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Account {
    granted: u64,
    arrived: u64,
    left: u64,
}

impl Account {
    fn of(granted: u64) -> Self {
        Account { granted, arrived: 0, left: 0 }
    }

    /// Bytes granted and not given back: on their way, stored, or not sent yet.
    #[inline]
    fn outstanding(&self) -> u64 {
        self.granted - self.left
    }

    /// Bytes granted that have not arrived.
    #[inline]
    fn unused(&self) -> u64 {
        self.granted - self.arrived
    }
}

/// BFC with credits at a switch: its grants to the upstreams, and the downstreams' grants to it.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Credits {
    bfc: Bfc,
    packet: u64,
    queue_reserve: u64,
    batch: u64,
    /// One row for each ingress port: the link's account, then those of its upstream queues.
    accounts: Vec<Account>,
    /// Number of data queues of an upstream.
    queues: usize,
    /// The links' windows, by ingress port (bytes).
    windows: Vec<u64>,
    /// Memory outside the queues' reserves (bytes).
    pool: u64,
    /// The part of `pool` that is given out or set aside: per link the outstanding bytes, or its window
    /// if that is more.
    committed: u64,
    /// A grant that is sent after the resume of the same departure.
    pending: Option<ControlFrame>,
    /// The credit that the neighbour behind each port has granted; `None` for a host, which takes
    /// everything.
    balances: Vec<Option<Balance>>,
    /// For each port, the queue whose account is repeated next.
    told_again: Vec<u16>,
}

impl Credits {
    /// A new policy. The upstream of each port is taken to have as many data queues as a port of the
    /// switch.
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

    /// A packet leaves and its account gets its bytes back. Answers a resume or a grant. When both are
    /// due, the grant is pending.
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

    /// A packet goes out of `egress`: an account of the downstream's credit pays for it.
    #[inline]
    fn pay(&mut self, egress: u16, packet: &mut Packet) {
        if let Some(balance) = &mut self.balances[usize::from(egress)] {
            balance.pay(packet);
        } else {
            packet.flags.remove(PacketFlags::OWN_CREDIT);
        }
    }

    /// Stops the queues of `egress` that have run out of credit, and starts those that have got some
    /// again.
    #[inline]
    fn apply(&mut self, egress: u16, port: &mut Port, pool: &PacketPool) {
        if let Some(balance) = &mut self.balances[usize::from(egress)] {
            while let Some((queue, is_dry)) = balance.take_change() {
                port.set_queue_dry(queue, is_dry, pool);
            }
        }
    }

    /// Compares the books with the `stored` bytes of each account (bytes).
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
    /// Answers a pause, or else a grant. A grant that a pause displaces comes with the next packet, at
    /// the latest when this packet leaves.
    #[inline]
    fn on_enqueue(&mut self, joining: &mut Passing<'_>) -> Option<ControlFrame> {
        let packet = joining.packet();
        let (ingress, paid_by) = (packet.ingress, paid_by(packet));
        let index = self.index(ingress, paid_by);
        self.accounts[index].arrived += u64::from(packet.wire_bytes);
        let pause = self.bfc.on_enqueue(joining);
        pause.or_else(|| if paid_by == 0 { self.grant_link(ingress) } else { None })
    }

    /// Answers a resume or a grant. When both are due, [`Policy::take_frame`] takes the grant. The
    /// leaving packet is paid from the credit of the next switch.
    #[inline]
    fn on_dequeue(&mut self, leaving: &mut Passing<'_>) -> Option<ControlFrame> {
        let frame = self.give_back(leaving);
        let egress = leaving.egress;
        self.pay(egress, leaving.packet_mut());
        self.apply(egress, &mut leaving.ports[usize::from(egress)], leaving.pool);
        frame
    }

    /// The grant that follows a resume.
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

    /// Repeats the bitmap, the link's grant and, in turn, the grant of one of its queues, in case a
    /// frame was lost.
    fn repeated_frame(
        &mut self,
        admission: &Admission,
        ingress: u16,
        number: usize,
    ) -> Option<ControlFrame> {
        match number {
            0 => self.bfc.repeated_frame(admission, ingress, 0),
            1 => Some(self.frame(ingress, 0)),
            2 => {
                let queue = self.told_again[usize::from(ingress)];
                self.told_again[usize::from(ingress)] = 1 + queue % self.queues as u16;
                Some(self.frame(ingress, queue))
            }
            _ => None,
        }
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

    /// Checks that credit is granted only once, and that dry queues are stopped.
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

/// The account that paid for `packet`: 0 for its link's account, else its upstream queue.
#[inline]
fn paid_by(packet: &Packet) -> u16 {
    if packet.flags.contains(PacketFlags::OWN_CREDIT) { packet.upstream_queue } else { 0 }
}

#[cfg(test)]
#[path = "credits_tests.rs"]
mod tests;
