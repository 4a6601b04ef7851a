//! The bytes stored in a switch. A packet counts at its egress queue and in an account of its ingress
//! port and class.

use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};

/// The bytes of one class that entered by one port and have not left.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct IngressAccount {
    /// Reserved and shared bytes.
    pub used: u64,
    /// Bytes in the headroom.
    pub headroom: u64,
}

/// The stored bytes of a switch. Writer: admission.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Accounts {
    /// Data bytes stored.
    pub total: u64,
    /// Largest `total` just before bytes were given back.
    pub(super) peak: u64,
    /// Shared bytes: the bytes of all ingress accounts beyond their reserves.
    pub shared: u64,
    /// Largest headroom use of any ingress account so far.
    pub headroom_peak: u64,
    pub(crate) ingress: Vec<IngressAccount>,
    classes: usize,
}

impl Accounts {
    pub(crate) fn new(ports: usize, classes: usize) -> Self {
        let ingress = vec![IngressAccount::default(); ports * classes];
        Accounts { total: 0, peak: 0, shared: 0, headroom_peak: 0, ingress, classes }
    }

    /// Largest `total` so far.
    pub fn peak(&self) -> u64 {
        self.peak.max(self.total)
    }

    /// The account of `class` at ingress port `port`.
    #[inline]
    pub fn ingress(&self, port: u16, class: u8) -> IngressAccount {
        self.ingress[self.index(port, class)]
    }

    /// Index of the account of `class` at `port`: one row per port, one column per class.
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
