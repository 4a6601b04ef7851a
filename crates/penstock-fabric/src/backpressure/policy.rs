//! The hooks of a backpressure policy. A policy leaves out those for which it has nothing to do.

use alloc::string::String;
use alloc::vec::Vec;

use penstock_packet::{Balance, ControlFrame, PacketPool, Signal, SwitchFacts};
use penstock_units::{Problems, Time};

use crate::admission::Admission;
use crate::config::{Surroundings, SwitchConfig};
use crate::passing::Passing;
use crate::port::Port;
use crate::stored::Stored;

/// What a policy is told of its switch.
pub(crate) struct Place<'a> {
    /// The switch and its ports.
    pub facts: &'a SwitchFacts,
    /// Ingress accounts.
    pub accounts: usize,
    /// Memory that all ports share (bytes); without limit where there is none.
    pub memory: u64,
    /// Data queues of a port.
    pub queues: usize,
}

/// What the parameters of a policy tell.
pub(crate) trait Parameters {
    /// Checks the fields with each other; their bounds are declared with them.
    fn check(&self, _problems: &mut Problems) {}

    /// Checks that the policy goes together with the others of `switch`, its own switch, in its
    /// surroundings. Fields are named by their path below the switch; those that were refused before are
    /// not counted with.
    fn fits(&self, _switch: &SwitchConfig, _around: &Surroundings, _problems: &mut Problems) {}

    /// Whether numbered queues are paused: each flow then needs one path.
    fn pauses_queues(&self) -> bool {
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

    /// Whether every round of queues ends: whoever is paused, no queue waits for one that is.
    fn lets_rounds_end(&self) -> bool {
        false
    }

    /// Whether hosts pay for their packets by queue.
    fn has_credits(&self) -> bool {
        false
    }

    /// Whether the ns-3 HPCC simulator has it.
    fn is_in_ns3_hpcc(&self) -> bool {
        false
    }

    /// The memory that it sets aside at a switch, and that must be there, when each port's upstream has
    /// `queues` data queues (bytes).
    fn set_aside(&self, _facts: &SwitchFacts, _queues: usize) -> u64 {
        0
    }
}

/// What pauses stop that last until they are taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stops {
    /// Priority classes.
    Classes,
    /// Queues.
    Queues,
}

/// A pause that a switch has sent, and packets which it holds for as long as they are stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptPause {
    /// Local port behind which the upstream is.
    pub ingress: u16,
    /// Class or queue.
    pub number: u16,
    /// Wire bytes of the packets that keep it.
    pub bytes: u64,
}

/// What an upstream has been granted, and has used of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Granted since the start (bytes).
    pub granted: u64,
    /// Arrived since the start (bytes).
    pub arrived: u64,
}

/// A backpressure policy of a switch.
pub(crate) trait Policy {
    /// A packet has joined its queue: what has to be sent upstream.
    #[inline]
    fn on_enqueue(&mut self, _packet: &mut Passing<'_>) -> Option<ControlFrame> {
        None
    }

    /// A packet has left its queue: what has to be sent upstream first.
    #[inline]
    fn on_dequeue(&mut self, _packet: &mut Passing<'_>) -> Option<ControlFrame> {
        None
    }

    /// Another frame that the last departure has made necessary.
    #[inline]
    fn take_frame(&mut self) -> Option<ControlFrame> {
        None
    }

    /// When [`Policy::on_deadline`] is due, for a policy with a clock of its own. Only that call moves it.
    #[inline]
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// The deadline has come.
    fn on_deadline(&mut self, _now: Time, _ports: &mut [Port]) {}

    /// The neighbour behind port `number`, which is `port`, has granted credit, or has paused or resumed a
    /// flow. Pauses of classes, of queues and of times are the port's own matter.
    fn on_signal(&mut self, _number: u16, _port: &mut Port, _signal: Signal, _pool: &PacketPool) {}

    /// Whether a queue of an egress is to be paused, where the policy decides that by what is in the queue.
    /// It is asked after every pause and resume of a flow.
    fn holds(&self, _at: (u16, u16), _port: &Port, _pool: &PacketPool) -> Option<bool> {
        None
    }

    /// The threshold at which it acts on a packet from `ingress` that is at `port`, the egress of that number
    /// (bytes); -1 where there is none.
    fn threshold(&self, _admission: &Admission, _ingress: u16, _egress: u16, _port: &Port) -> i64 {
        -1
    }

    /// The frames that ask the neighbour behind `ingress` for all pauses that should be in place.
    fn standing_pauses(&self, _admission: &Admission, _ingress: u16) -> Vec<ControlFrame> {
        Vec::new()
    }

    /// Time between two calls of [`Policy::repeated_frames`], where they are wanted.
    fn repeat_interval(&self) -> Option<Time> {
        None
    }

    /// What the neighbour behind `ingress` is told again from time to time, in this order.
    fn repeated_frames(&mut self, _ingress: u16) -> [Option<ControlFrame>; 3] {
        [None; 3]
    }

    /// What the neighbour behind `ingress` may send from the start, where there are credits.
    fn opening_balance(&self, _ingress: u16) -> Option<Balance> {
        None
    }

    /// The neighbour behind `egress`, a switch, has granted `balance` from the start.
    fn connect(&mut self, _egress: u16, _balance: Balance) {}

    /// What the neighbour behind `egress` has granted, where there are credits, for checks.
    fn balance(&self, _egress: u16) -> Option<&Balance> {
        None
    }

    /// What the neighbour behind `ingress` has been granted, account by account as in its [`Balance`], for
    /// checks.
    fn ledger(&self, _ingress: u16) -> Vec<Granted> {
        Vec::new()
    }

    /// The largest share of its threshold that an ingress port and class has held, for measurement.
    fn peak_fraction(&self) -> Option<f64> {
        None
    }

    /// What its pauses stop, where they last until they are taken back; for a detector of deadlocks.
    fn stops(&self) -> Option<Stops> {
        None
    }

    /// Whether `pause` would last if nothing held it but its packets, and all accounts together had `shared`
    /// bytes of the pool.
    fn lasts(&self, _admission: &Admission, _pause: &KeptPause, _shared: u64) -> bool {
        false
    }

    /// Recomputes its state from the packets that are stored.
    ///
    /// # Errors
    /// The first number that is wrong, in words.
    fn audit(&self, _stored: &Stored<'_>) -> Result<(), String> {
        Ok(())
    }
}
