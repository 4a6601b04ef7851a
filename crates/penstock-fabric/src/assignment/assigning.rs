//! What an assignment policy is handed with a packet.

use penstock_packet::Packet;
use penstock_units::Time;
use rand_pcg::Pcg32;

use crate::port::Port;

/// What an assignment policy may look at.
pub(crate) struct Assigning<'a> {
    pub now: Time,
    pub egress: u16,
    pub port: &'a mut Port,
    pub packet: &'a mut Packet,
    pub random: &'a mut Pcg32,
}
