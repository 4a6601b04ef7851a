//! The egress ports of a switch. A port is made when something is first done to it, because most ports of a
//! large network never carry a packet.
//!
//! Invariant: a port that is not made answers every question as one that was made and never used.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

use borsh::io::Result;
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use penstock_units::state::{Saved, State};

use crate::port::Port;
use crate::scheduling::policy::Egress;
use crate::scheduling::{Scheduler, SchedulingConfig};

/// The egress ports of a switch, by number.
#[derive(Debug)]
#[repr(C)] // `made` first: it is all that a packet needs
pub struct Ports {
    /// By number: the port, once it is made.
    made: Vec<Option<Box<Port>>>,
    blank: Blank,
}

/// Ports that are not made.
#[derive(Debug)]
struct Blank {
    scheduling: SchedulingConfig,
    node: u32,
    /// A full packet on the wire (bytes).
    packet: u16,
    /// Bits of the epochs of queues; 0 where they have none.
    epoch_bits: u32,
    /// A port of each rate, never used: it answers for the ports of this rate that are not made.
    ports: Vec<Port>,
    /// By number of a port: its place in `ports`.
    places: Vec<u16>,
}

/// The ports that are made are saved. Each becomes one that is made, on its own, so `made` keeps its length.
impl State for Ports {
    fn save(&self, to: &mut Saved) -> Result<()> {
        self.made.iter().try_for_each(|port| port.as_deref().serialize(to))
    }

    fn restore(&mut self, from: &mut &[u8]) -> Result<()> {
        self.made.iter_mut().try_for_each(|port| {
            *port = Option::<Port>::deserialize(from)?.map(Box::new);
            Ok(())
        })
    }
}

impl Ports {
    /// The ports at the place that `facts` describes, with schedulers of this kind; their queues will have
    /// epochs of `epoch_bits` bits.
    pub(crate) fn new(scheduling: &SchedulingConfig, facts: &SwitchFacts, epoch_bits: u32) -> Self {
        let mut blank = Blank {
            scheduling: scheduling.clone(),
            node: facts.node,
            packet: facts.frames.packet,
            epoch_bits,
            ports: Vec::new(),
            places: Vec::with_capacity(facts.ports.len()),
        };
        // A class that a program supplies hears once of each port, in their order, before the run.
        let makes_all = matches!(scheduling, SchedulingConfig::Python(_));
        let mut made = Vec::with_capacity(facts.ports.len());
        for (number, rate) in (0..).zip(facts.ports.iter().map(|port| port.rate)) {
            let egress = Egress { node: facts.node, port: number, rate, packet: blank.packet };
            let port = makes_all.then(|| Box::new(blank.port(&egress)));
            let known = blank.ports.iter().position(|port| port.rate() == rate);
            if known.is_none() && !makes_all {
                blank.ports.reserve_exact(1);
                blank.ports.push(blank.port(&egress));
            }
            blank.places.push(known.unwrap_or(blank.ports.len().saturating_sub(1)) as u16);
            made.push(port);
        }
        Ports { made, blank }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.made.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// All ports, in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Port> {
        (0..self.len()).map(|number| &self[number])
    }

    /// How many ports are made.
    #[cfg(test)]
    fn made(&self) -> usize {
        self.made.iter().flatten().count()
    }
}

impl Blank {
    /// A port that was never used.
    fn port(&self, egress: &Egress) -> Port {
        Port::new(egress.rate, Scheduler::new(&self.scheduling, egress), self.epoch_bits)
    }

    /// Makes port `number`.
    #[cold]
    #[inline(never)]
    fn make(&self, number: usize) -> Box<Port> {
        let rate = self.answering(number).rate();
        let egress = Egress { node: self.node, port: number as u16, rate, packet: self.packet };
        Box::new(self.port(&egress))
    }

    /// The port that answers for port `number`, which is not made.
    #[cold]
    fn answering(&self, number: usize) -> &Port {
        &self.ports[usize::from(self.places[number])]
    }
}

impl Index<usize> for Ports {
    type Output = Port;

    #[inline]
    fn index(&self, number: usize) -> &Port {
        match &self.made[number] {
            Some(port) => port,
            None => self.blank.answering(number),
        }
    }
}

impl IndexMut<usize> for Ports {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut Port {
        let Ports { made, blank } = self;
        made[number].get_or_insert_with(|| blank.make(number))
    }
}

#[cfg(test)]
#[path = "ports_tests.rs"]
mod tests;
