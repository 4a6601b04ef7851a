//! What is stored in a switch: once at its egress queue, and here at its ingress port and class.

use alloc::vec;
use alloc::vec::Vec;

/// The bytes that entered by one port in one class and have not left.
#[derive(Clone, Copy, Debug, Default)]
pub struct IngressAccount {
    /// Reserved and shared bytes.
    pub used: u64,
    /// Bytes in the headroom.
    pub headroom: u64,
}

/// What is stored in a switch. Writer: admission.
#[derive(Clone, Debug)]
pub struct Accounts {
    /// Data bytes stored.
    pub total: u64,
    /// Largest `total` so far.
    pub peak: u64,
    /// Shared bytes: what the ingress accounts hold beyond their reserve.
    pub shared: u64,
    /// The most that an ingress account has held in its headroom so far.
    pub headroom_peak: u64,
    pub(crate) ingress: Vec<IngressAccount>,
    classes: usize,
}

impl Accounts {
    pub(crate) fn new(ports: usize, classes: usize) -> Self {
        let ingress = vec![IngressAccount::default(); ports * classes];
        Accounts { total: 0, peak: 0, shared: 0, headroom_peak: 0, ingress, classes }
    }

    /// The account of `class` at ingress port `port`.
    #[inline]
    pub fn ingress(&self, port: u16, class: u8) -> IngressAccount {
        self.ingress[self.index(port, class)]
    }

    /// Where the account of `class` at `port` stands: one row a port, one column a class.
    #[inline]
    pub fn index(&self, port: u16, class: u8) -> usize {
        usize::from(port) * self.classes + usize::from(class).min(self.classes - 1)
    }

    /// Number of accounts.
    pub fn count(&self) -> usize {
        self.ingress.len()
    }
}

/// A packet that asks for room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub ingress: u16,
    pub class: u8,
    pub bytes: u64,
    /// Data bytes at the egress port.
    pub egress_bytes: u64,
}
