//! The hooks of a backpressure policy. A policy writes only the hooks for which it has something to do.

use alloc::string::String;
use alloc::vec::Vec;

use penstock_packet::{Balance, ControlFrame, PacketPool, Signal, SwitchFacts};
use penstock_units::{Fidelity, Problems, Time};

use crate::admission::Admission;
use crate::config::{Surroundings, SwitchConfig};
use crate::passing::Passing;
use crate::port::Port;
use crate::ports::Ports;
use crate::stored::Stored;

/// What a new policy learns of its switch.
pub(crate) struct Place<'a> {
    /// The switch and its ports.
    pub facts: &'a SwitchFacts,
    /// Number of ingress accounts.
    pub accounts: usize,
    /// Memory that all ports share (bytes); `u64::MAX` where the memory has no limit.
    pub memory: u64,
    /// Number of data queues of a port.
    pub queues: usize,
    /// Number of epochs of a queue.
    pub epochs: usize,
}

/// What a switch tells each neighbour again from time to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// The field that says how often, by its path below the backpressure.
    pub field: &'static str,
    /// How often.
    pub interval: Time,
    /// Control frames that are sent each time.
    pub frames: u32,
}

/// Checks of a policy's parameters, and what other policies and the switch ask of them.
pub(crate) trait Parameters {
    /// Compares the fields with each other. Each field declares its own bounds.
    fn check(&self, _problems: &mut Problems) {}

    /// Checks that the policy goes together with the other policies of `switch`, its own switch, in its
    /// surroundings. Fields are named by their path below the switch. Fields that were refused before
    /// are skipped.
    fn fits(&self, _switch: &SwitchConfig, _around: &Surroundings, _problems: &mut Problems) {}

    /// Whether pauses name queues. Each flow then needs one path.
    fn pauses_queues(&self) -> bool {
        false
    }

    /// Whether pauses name the epoch of a queue.
    fn tells_epochs(&self) -> bool {
        false
    }

    /// Whether the upstream learns nothing.
    fn is_silent(&self) -> bool {
        false
    }

    /// Whether the queue of each egress is predicted.
    fn predicts_queues(&self) -> bool {
        false
    }

    /// What is told again from time to time, where a queue has so many epochs; none: nothing.
    fn repeats(&self, _epochs: u32) -> Option<Repeats> {
        None
    }

    /// Whether every round of queues ends whatever is paused, because no queue waits for a paused one.
    fn lets_rounds_end(&self) -> bool {
        false
    }

    /// Whether hosts pay for their packets by queue.
    fn has_credits(&self) -> bool {
        false
    }

    /// Whether the simulator of this fidelity has the policy. Ours has all.
    fn is_in(&self, simulator: Fidelity) -> bool {
        simulator == Fidelity::Exact
    }

    /// The memory that the policy sets aside at a switch and that must be there (bytes). Each port's
    /// upstream has `queues` data queues.
    fn set_aside(&self, _facts: &SwitchFacts, _queues: usize) -> u64 {
        0
    }
}

/// What a lasting pause stops. A lasting pause stays until a resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stops {
    /// Priority classes.
    Classes,
    /// Queues.
    Queues,
    /// Flows: a queue waits while its head belongs to a paused flow.
    Flows,
}

/// A pause that a switch has sent, with the stopped packets that keep it in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptPause {
    /// Local port behind which the upstream is.
    pub ingress: u16,
    /// The paused class or queue, or the hash of the paused flow.
    pub number: u32,
    /// Wire bytes of the packets that keep the pause.
    pub bytes: u64,
}

/// The credit granted to an upstream, and the part that has been used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Granted since the start (bytes).
    pub granted: u64,
    /// Arrived since the start (bytes).
    pub arrived: u64,
}

/// A backpressure policy of a switch.
pub(crate) trait Policy {
    /// A packet has joined its queue. Answers the frame to send upstream.
    #[inline]
    fn on_enqueue(&mut self, _packet: &mut Passing<'_>) -> Option<ControlFrame> {
        None
    }

    /// A packet has left its queue. Answers the first frame to send upstream.
    #[inline]
    fn on_dequeue(&mut self, _packet: &mut Passing<'_>) -> Option<ControlFrame> {
        None
    }

    /// Another frame to send because of the last departure.
    #[inline]
    fn take_frame(&mut self) -> Option<ControlFrame> {
        None
    }

    /// When [`Policy::on_deadline`] is due, for a policy with a clock of its own. Only `on_deadline`
    /// moves the deadline.
    #[inline]
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// The deadline has come.
    fn on_deadline(&mut self, _now: Time, _ports: &mut Ports) {}

    /// The neighbour behind port `number`, which is `port`, has granted credit, or has paused or
    /// resumed a flow. The port itself handles pauses of classes, pauses of queues and timed pauses.
    fn on_signal(&mut self, _number: u16, _port: &mut Port, _signal: Signal, _pool: &PacketPool) {}

    /// Whether a queue of an egress must be paused; `None` unless the policy decides by the packets in
    /// the queue. The switch asks after every pause and resume of a flow.
    fn holds(&self, _at: (u16, u16), _port: &Port, _pool: &PacketPool) -> Option<bool> {
        None
    }

    /// The threshold at which the policy acts on a packet from `ingress` at `port`, which is the egress
    /// of that number (bytes); -1 where there is none.
    fn threshold(&self, _admission: &Admission, _ingress: u16, _egress: u16, _port: &Port) -> i64 {
        -1
    }

    /// The frames that ask the neighbour behind `ingress` for all pauses that should be in place.
    fn standing_pauses(&self, _admission: &Admission, _ingress: u16) -> Vec<ControlFrame> {
        Vec::new()
    }

    /// Frame `number` of those that are repeated to the neighbour behind `ingress` from time to time; none
    /// behind the last.
    fn repeated_frame(
        &mut self,
        _admission: &Admission,
        _ingress: u16,
        _number: usize,
    ) -> Option<ControlFrame> {
        None
    }

    /// The credit of the neighbour behind `ingress` at the start, where there are credits.
    fn opening_balance(&self, _ingress: u16) -> Option<Balance> {
        None
    }

    /// Stores the credit `balance` that the neighbour behind `egress`, a switch, grants at the start.
    fn connect(&mut self, _egress: u16, _balance: Balance) {}

    /// The credit that the neighbour behind `egress` has granted, where there are credits, for checks.
    fn balance(&self, _egress: u16) -> Option<&Balance> {
        None
    }

    /// The credit granted to the neighbour behind `ingress`, one entry per account as in the
    /// neighbour's [`Balance`], for checks.
    fn ledger(&self, _ingress: u16) -> Vec<Granted> {
        Vec::new()
    }

    /// The largest share of its threshold that an ingress port and class has held, for measurement.
    fn peak_fraction(&self) -> Option<f64> {
        None
    }

    /// What the policy's pauses stop, if they last until a resume; for a detector of deadlocks.
    fn stops(&self) -> Option<Stops> {
        None
    }

    /// Whether `pause` would last if only its own packets kept it in place, and all accounts together
    /// had `shared` bytes of the pool.
    fn lasts(&self, _admission: &Admission, _pause: &KeptPause, _shared: u64) -> bool {
        false
    }

    /// Recomputes the policy's state from the stored packets.
    ///
    /// # Errors
    /// The first number that is wrong, in words.
    fn audit(&self, _stored: &Stored<'_>) -> Result<(), String> {
        Ok(())
    }
}
