//! Frames that the network does not let in, by reason.

use penstock_wire::{LinkTraffic, Malformed};

/// Why a frame is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is no frame that can be handled.
    Malformed(Malformed),
    /// It is traffic of the link, which goes to no single host.
    Link(LinkTraffic),
    /// It bears the addresses of another host.
    Spoofed,
    /// It comes from a kernel and goes to a host of ours, which could not read it.
    NoKernel,
    /// A pause, a resume or credit: hosts send none.
    Signal,
    /// It names a queue or a class that its NIC does not have.
    Queue,
}

/// The reasons that only a network has, as words for a table.
const OWN: [&str; 4] = ["spoofed", "no-kernel", "signal", "queue"];

/// How many frames were not let in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    malformed: [u64; Malformed::NAMES.len()],
    link: [u64; LinkTraffic::ALL.len()],
    own: [u64; OWN.len()],
}

impl Refusals {
    pub(crate) fn count(&mut self, refusal: Refusal) {
        let counter = match refusal {
            Refusal::Malformed(malformed) => &mut self.malformed[malformed.index()],
            Refusal::Link(traffic) => &mut self.link[traffic as usize],
            Refusal::Spoofed => &mut self.own[0],
            Refusal::NoKernel => &mut self.own[1],
            Refusal::Signal => &mut self.own[2],
            Refusal::Queue => &mut self.own[3],
        };
        *counter += 1;
    }

    /// Each reason that occurred, and how often.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let link = LinkTraffic::ALL.map(LinkTraffic::name).into_iter().zip(self.link);
        let malformed = Malformed::NAMES.into_iter().zip(self.malformed);
        malformed.chain(link).chain(OWN.into_iter().zip(self.own)).filter(|&(_, count)| count > 0)
    }
}
