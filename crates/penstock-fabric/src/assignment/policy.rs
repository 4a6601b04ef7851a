//! The hooks of an assignment policy. A policy leaves out those for which it has nothing to do.

use alloc::string::String;
use alloc::vec::Vec;

use penstock_packet::Packet;
use penstock_units::{Problems, Time};
use rand_pcg::Pcg32;

use crate::port::Port;
use crate::stored::Stored;

/// What the parameters of a policy tell.
pub(crate) trait Parameters {
    /// Checks every field against its bounds.
    fn check(&self, _problems: &mut Problems) {}

    /// Priority classes.
    fn classes(&self) -> u32 {
        1
    }

    /// The class of each data queue that a port of a switch with `ports` ports starts with.
    fn queue_classes(&self, ports: usize) -> Vec<u8>;
}

/// What a policy is handed with a packet that was admitted.
pub(crate) struct Assigning<'a> {
    /// The time.
    pub now: Time,
    /// The port by which the packet leaves.
    pub egress: u16,
    /// The same.
    pub port: &'a mut Port,
    /// The packet.
    pub packet: &'a mut Packet,
    /// The random numbers of the switch.
    pub random: &'a mut Pcg32,
}

/// An assignment policy of a switch.
pub(crate) trait Policy {
    /// Chooses the data queue for a packet that was admitted; `None` refuses it.
    fn assign(&mut self, arrival: Assigning<'_>) -> Option<u16>;

    /// A data packet has left its queue at `port`, the egress of that number.
    #[inline]
    fn on_dequeue(&mut self, _now: Time, _egress: u16, _packet: &Packet, _port: &Port) {}

    /// The flow-table entry of a packet, or -1 where there is no table.
    fn table_index(&self, _egress: u16, _packet: &Packet) -> i64 {
        -1
    }

    /// Recomputes its state from the packets that are stored.
    ///
    /// # Errors
    /// The first number that is wrong, in words.
    fn audit(&self, _stored: &Stored<'_>) -> Result<(), String> {
        Ok(())
    }
}
