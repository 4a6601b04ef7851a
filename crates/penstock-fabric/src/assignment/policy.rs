//! The hooks of an assignment policy. A policy writes only the hooks for which it has something to do.

use alloc::string::String;
use alloc::vec::Vec;

use penstock_packet::Packet;
use penstock_units::random::Pcg32;
use penstock_units::{Fidelity, Problems, Time};

use crate::admission::Admission;
use crate::config::{Surroundings, SwitchConfig};
use crate::port::Port;
use crate::stored::Stored;

/// Checks of a policy's parameters, and what other policies ask of them.
pub(crate) trait Parameters {
    /// Compares the fields with each other. Each field declares its own bounds.
    fn check(&self, _problems: &mut Problems) {}

    /// Checks that the policy goes together with the other policies of `switch`, its own switch, in its
    /// surroundings. Fields are named by their path below the switch. Fields that were refused before
    /// are skipped.
    fn fits(&self, _switch: &SwitchConfig, _around: &Surroundings, _problems: &mut Problems) {}

    /// Whether the simulator of this fidelity has the policy. In the ns-3 HPCC simulator the scheduler
    /// decides.
    fn is_in(&self, simulator: Fidelity) -> bool {
        simulator != Fidelity::Ns3Bfc
    }

    /// Number of priority classes.
    fn classes(&self) -> u32 {
        1
    }

    /// The class of each data queue that a port of a switch with `ports` ports starts with.
    fn queue_classes(&self, ports: usize) -> Vec<u8>;

    /// Queues of a port, the control queue included; `None` where their number follows the flows or
    /// ports.
    fn queues(&self) -> Option<u32> {
        Some(1 + self.queue_classes(0).len() as u32)
    }

    /// Whether a port has a single data queue.
    fn is_one_queue(&self) -> bool {
        false
    }

    /// Whether every flow has a queue of its own.
    fn is_per_flow(&self) -> bool {
        false
    }

    /// Whether a flow has a queue of its own, at least while there are enough queues.
    fn parts_flows(&self) -> bool {
        self.is_per_flow()
    }

    /// Whether queues change their class, so that their numbers are not ranks.
    fn classes_share(&self) -> bool {
        false
    }

    /// Whether acknowledgements wait in data queues, as packets of a flow of their own.
    fn queues_acknowledgements(&self) -> bool {
        false
    }

    /// Bits of the epochs of queues; 0 where queues have no epochs.
    fn epoch_bits(&self) -> u32 {
        0
    }

    /// Whether a queue stands for a round.
    fn keeps_rounds(&self) -> bool {
        false
    }

    /// Number of priority levels that hosts give their packets, where packets have levels.
    fn levels(&self) -> Option<u32> {
        None
    }
}

/// The argument of [`Policy::assign`]: a packet that was admitted, and its surroundings.
pub(crate) struct Assigning<'a> {
    /// The time.
    pub now: Time,
    /// Number of the port by which the packet leaves.
    pub egress: u16,
    /// The port by which the packet leaves.
    pub port: &'a mut Port,
    /// The packet.
    pub packet: &'a mut Packet,
    /// The switch's memory.
    pub admission: &'a Admission,
    /// The random numbers of the switch.
    pub random: &'a mut Pcg32,
}

/// An assignment policy of a switch.
pub(crate) trait Policy {
    /// Chooses the data queue for an admitted packet; `None` refuses the packet.
    fn assign(&mut self, arrival: Assigning<'_>) -> Option<u16>;

    /// A data packet has left its queue at `port`, which is the egress of that number.
    #[inline]
    fn on_dequeue(&mut self, _now: Time, _egress: u16, _packet: &Packet, _port: &Port) {}

    /// The flow-table entry of a packet, or -1 where there is no table.
    fn table_index(&self, _egress: u16, _packet: &Packet) -> i64 {
        -1
    }

    /// Recomputes the policy's state from the stored packets.
    ///
    /// # Errors
    /// The first number that is wrong, in words.
    fn audit(&self, _stored: &Stored<'_>) -> Result<(), String> {
        Ok(())
    }
}
