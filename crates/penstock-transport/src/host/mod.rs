//! A host: everything it does with packets, as one state machine that any driver can run.
//!
//! A host has one port, its uplink, and no clock. A driver calls the host and lends it a [`Turn`]: the
//! time, the packets, the flows, the random numbers, and a list for the host's requests ([`Requests`]).
//!
//! | call | when |
//! |---|---|
//! | [`Host::open`] | a flow starts here |
//! | [`Host::expect`] | a flow to this host starts elsewhere; before its first packet arrives |
//! | [`Host::receive`] | the last bit of a packet has arrived |
//! | [`Host::transmit`] | the uplink is free, and the host has asked for it or [`Host::ready_at`] is due |
//! | [`Host::on_timer`] | a timer that the host has asked for is due |
//! | [`Host::close`] | a flow to this host has completed at its source |
//!
//! After every call the driver polls [`Requests::poll`] until no request is left, and serves the
//! requests in that order. When [`Host::transmit`] has no packet, or [`Host::has_more`] is false after
//! it, the driver calls [`Host::ready_at`] to learn when the host looks again because of pacing.
//!
//! The driver chooses the order of calls at one instant; `penstock-sim`'s `clock` has the simulator's
//! order. A host owns the packets that it receives: it answers with them, keeps them, or removes them
//! from the pool.
//!
//! Control packets leave first, in the order in which they were made. With credits, next come credits
//! for which the tokens suffice, and data that credits have paid for. Without credits, the NIC chooses
//! the next packet.
//!
//! Reading order: [`flows`], [`requests`], here (the life of a flow), `connections` (flows that wait for each
//! other), `sending` (packets that leave),
//! `receiving` (data that arrive), `answers` (answers that come back), `pauses` (signals of the
//! switch), `messages` (Homa), `credits` (ExpressPass), `pulls` (NDP, and what switches trim).

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{
    Balance, Carried, ClassEnds, CreditQueue, CreditShapingConfig, Fifo, Packet, PacketId,
    PacketKind, PacketPool,
};
use penstock_units::random::Pcg32;
use penstock_units::{BitRate, Fidelity, Time};

use crate::config::HostConfig;
use crate::flow::FlowFacts;
use crate::nic::Nic;
use crate::path::PathFacts;
use crate::planner::Planner;
use crate::receiver::Receiver;
use crate::sender::Sender;

mod answers;
mod connections;
mod credits;
pub mod flows;
mod messages;
mod pauses;
mod pulls;
mod receiving;
pub mod requests;
mod sending;

pub use connections::SharedConnections;
pub use flows::Flows;
pub use pauses::HostPauses;
pub use requests::{Request, Requests, Timer};

use connections::Connections;
use flows::{Identity, Incoming, OWN_CONNECTION, Outgoing};

/// What a driver lends a host for one call.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The time.
    pub now: Time,
    /// All packets.
    pub pool: &'a mut PacketPool,
    /// All flows.
    pub flows: &'a mut Flows,
    /// What the host asks for.
    pub requests: &'a mut Requests,
}

/// The random streams of a host.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct HostDraws {
    /// For the choice of a flow's NIC queue.
    pub nic: Pcg32,
    /// For the sizes of credits, and the gaps between them (ExpressPass).
    pub credits: Pcg32,
}

/// Sizes of frames that a host makes (bytes).
#[derive(Clone, Copy, Debug)]
pub struct FrameBytes {
    /// Header, telemetry and timestamp of a data packet.
    pub data_overhead: u32,
    /// An acknowledgement.
    pub acknowledgement: u16,
    /// Any other control packet.
    pub control: u16,
}

/// What a host knows of its network.
#[derive(Clone, Debug)]
pub struct HostFacts<'a> {
    /// How the hosts of the scheme behave, for the flows of each controller: those of
    /// [`HostConfig::of_controllers`].
    pub configs: &'a Arc<[HostConfig]>,
    /// Priority classes, 1 to 8.
    pub classes: u32,
    /// Bits of the epochs of NIC queues; 0 where they have none (BFC with epochs).
    pub epoch_bits: u32,
    /// Rate of the uplink.
    pub rate: BitRate,
    /// One-way delay of the uplink (T_hop of FAFC).
    pub hop_delay: Time,
    /// Sizes of frames.
    pub frames: FrameBytes,
    /// Facts about the longest path of the network.
    pub path: PathFacts,
    /// How credits are shaped, where the scheme has credits.
    pub shaping: Option<&'a CreditShapingConfig>,
    /// Random numbers of this host alone.
    pub draws: HostDraws,
    /// How fast the host's clock is wrong, as a share of what the controller allows, from -1 to 1.
    pub clock: f64,
}

/// A flow that starts.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Name of the flow. Every packet of the flow bears it.
    pub flow: u32,
    /// Number of the flow in the run.
    pub number: u64,
    /// The flow identifier that switches see (FID).
    pub hash: u32,
    /// The sending host.
    pub source: u32,
    /// The receiving host.
    pub destination: u32,
    /// Bytes to send; 0 for an endless flow.
    pub size: u64,
    /// When the flow stops, with what it has sent by then; [`Time::NEVER`] when it goes on to its last byte.
    pub stop: Time,
    /// The controller of the flow: an index into [`HostFacts::configs`].
    pub controller: u16,
    /// Priority class, below the host's number of classes.
    pub class: u8,
    /// Whether the flow is labelled as incast (BFC App. A.7).
    pub is_incast: bool,
    /// The open connections to the destination that the flow shares with others; `None` when it has one of
    /// its own.
    pub connections: Option<SharedConnections>,
    /// Facts about the path of the flow.
    pub path: PathFacts,
}

/// What a host counts.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct HostCounters {
    /// What the uplink has carried.
    pub carried: Carried,
    /// Retransmission timers that expired.
    pub timeouts: u64,
    /// Credits that were sent, the dropped ones included (ExpressPass).
    pub credits_sent: u64,
    /// Credits that came to a sender which had nothing to send (ExpressPass).
    pub credits_wasted: u64,
}

/// Packets that wait at a host with credits (ExpressPass), behind its control packets.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
struct Credited {
    /// Credits that wait for tokens.
    credits: CreditQueue,
    /// Data that credits have paid for.
    data: Fifo,
}

/// A host.
#[derive(Debug)]
pub struct Host {
    nic: Nic,
    /// Acknowledgements and other control packets, ahead of data.
    control: Fifo,
    /// The host may send no data before this time, because the switch paused it (FAFC).
    held_until: Time,
    class_ends: ClassEnds,
    hop_delay: Time,
    /// See [`HostFacts::clock`].
    clock: f64,
    frames: FrameBytes,
    fidelity: Fidelity,
    configs: Arc<[HostConfig]>,
    credited: Option<Box<Credited>>,
    /// The bytes for which the switch has set memory aside (BFC with credits).
    balance: Option<Box<Balance>>,
    planner: Option<Box<Planner>>,
    /// The slots of the flows that this host has started and that have not completed.
    open: Vec<u32>,
    draws: HostDraws,
    counters: HostCounters,
    /// From the first signal of the switch on.
    pauses: Option<Box<HostPauses>>,
    /// From the first flow on an open connection on.
    connections: Option<Box<Connections>>,
}

penstock_units::state! { Host {
    saved: nic, control, held_until, class_ends, credited, balance, planner, open, draws, counters, pauses,
        connections;
    within: ;
    kept: hop_delay, clock, frames, fidelity, configs;
} }

impl Host {
    /// A host without flows.
    pub fn new(facts: &HostFacts<'_>) -> Self {
        let config = &facts.configs[0];
        let queue = |shaping| CreditQueue::new(shaping, facts.rate);
        let credited = facts
            .shaping
            .map(|shaping| Box::new(Credited { credits: queue(shaping), data: Fifo::default() }));
        Host {
            nic: Nic::new(&config.nic, facts.classes, facts.path.fidelity)
                .with_epochs(facts.epoch_bits),
            control: Fifo::default(),
            held_until: Time::ZERO,
            class_ends: ClassEnds::default(),
            hop_delay: facts.hop_delay,
            clock: facts.clock,
            frames: facts.frames,
            fidelity: facts.path.fidelity,
            configs: Arc::clone(facts.configs),
            credited,
            balance: None,
            planner: config.controller.planner(&facts.path, facts.rate).map(Box::new),
            open: Vec::new(),
            draws: facts.draws.clone(),
            counters: HostCounters::default(),
            pauses: None,
            connections: None,
        }
    }

    /// Stores the credit that the switch grants at the start (BFC with credits).
    pub fn connect(&mut self, balance: Balance) {
        self.balance = Some(Box::new(balance));
    }

    /// What the host does for the flow of `opening`.
    fn config_of(&self, opening: &Opening) -> &HostConfig {
        &self.configs[usize::from(opening.controller)]
    }

    /// A flow starts here.
    pub fn open(&mut self, turn: &mut Turn<'_>, opening: &Opening) {
        let Opening { flow, number, class, is_incast, .. } = *opening;
        let config = self.config_of(opening);
        let facts =
            FlowFacts { number, start: turn.now, ..config.flow(opening.size, &opening.path) };
        let mut sender = Sender::of(&facts, config, turn.now);
        sender.stop_at(opening.stop);
        let pool = self.pool_of(opening);
        if pool != OWN_CONNECTION {
            sender.join_connection();
        }
        let outgoing = Outgoing {
            flow,
            timer: Time::NEVER,
            identity: Identity::of(opening),
            place: 0,
            pool,
            class,
            is_incast,
            is_open: true,
        };
        let slot = turn.flows.open(sender, outgoing);
        if pool != OWN_CONNECTION && !self.takes_connection(turn, slot, number) {
            return;
        }
        self.start(turn, slot, number);
        self.signal_receiver(turn, slot);
        self.watch_sender(turn, slot);
    }

    /// The flow in `slot`, which has this number in the run, may send from now on.
    fn start(&mut self, turn: &mut Turn<'_>, slot: u32, number: u64) {
        let outgoing = &mut turn.flows.outgoing[slot as usize];
        outgoing.place = self.open.len() as u32;
        let order = (outgoing.class, number);
        self.open.push(slot);
        if self.nic.start(slot, order, &mut turn.flows.senders, &mut self.draws.nic) {
            self.note_pause_end(turn.now);
        }
        turn.requests.set_ready();
    }

    /// A flow to this host starts elsewhere.
    pub fn expect(&mut self, turn: &mut Turn<'_>, opening: &Opening) {
        let incoming = Incoming {
            timer: Time::NEVER,
            size: if opening.size == 0 { u64::MAX } else { opening.size },
            number: opening.number,
            identity: Identity::of(opening),
            is_open: true,
            receiver: Receiver::new(
                self.config_of(opening),
                opening.size,
                &opening.path,
                self.clock,
            ),
        };
        turn.flows.expect(opening.flow, incoming);
    }

    /// A flow to this host has completed at its source. The host ignores packets of the flow that still
    /// arrive.
    pub fn close(&mut self, turn: &mut Turn<'_>, flow: u32) {
        if let Some(incoming) = turn.flows.incoming(flow) {
            incoming.is_open = false;
            self.forget_pulls(flow);
        }
    }

    /// The last byte of the flow in `slot` is acknowledged.
    fn complete(&mut self, turn: &mut Turn<'_>, slot: u32) {
        let Outgoing { flow, place, pool, .. } = turn.flows.outgoing[slot as usize];
        self.open.swap_remove(place as usize);
        if let Some(&moved) = self.open.get(place as usize) {
            turn.flows.outgoing[moved as usize].place = place;
        }
        self.nic.finish(slot, &mut turn.flows.senders);
        turn.flows.complete(slot);
        turn.requests.push(Request::Completed(flow));
        if pool == OWN_CONNECTION {
            turn.flows.free(slot);
        } else {
            self.release_connection(turn, slot, pool);
        }
        if self.fidelity.is_ns3() {
            turn.requests.set_ready();
        }
    }

    /// A timer that the host has asked for is due.
    pub fn on_timer(&mut self, turn: &mut Turn<'_>, timer: Timer) {
        match timer {
            Timer::Sender(flow) => self.on_sender_timer(turn, flow),
            Timer::Receiver(flow) => self.on_receiver_timer(turn, flow),
            // Switches that trim pause nobody.
            Timer::Uplink if self.has_pulls() => self.send_due_pull(turn),
            Timer::Uplink => self.on_uplink_timer(turn),
        }
    }

    /// The last bit of packet `id` has arrived.
    #[inline(always)] // a driver has one call
    pub fn receive(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        match turn.pool[id].kind {
            PacketKind::Data => self.on_data(turn, id),
            PacketKind::Acknowledgement | PacketKind::NegativeAcknowledgement => {
                self.on_acknowledgement(turn, id);
            }
            PacketKind::DropNotice => self.on_drop_notice(turn, id),
            PacketKind::Trimmed => self.on_trimmed(turn, id),
            PacketKind::CongestionFeedback | PacketKind::CongestionNotification => {
                self.on_congestion(turn, id);
            }
            PacketKind::Grant | PacketKind::Resend | PacketKind::Busy => {
                self.on_message_control(turn, id);
            }
            PacketKind::Credit => self.on_credit(turn, id),
            PacketKind::CreditRequest | PacketKind::CreditStop => self.on_credit_signal(turn, id),
            _ => self.on_signal(turn, id),
        }
    }

    /// The time before which the switch lets the host send no data (FAFC).
    pub fn held_until(&self) -> Time {
        self.held_until
    }

    /// The NIC of the host.
    pub fn nic(&self) -> &Nic {
        &self.nic
    }

    /// The credit that the switch has granted, where switches grant credit (BFC with credits).
    pub fn balance(&self) -> Option<&Balance> {
        self.balance.as_deref()
    }

    /// Whether receivers send credits (ExpressPass).
    pub fn has_credits(&self) -> bool {
        self.credited.is_some()
    }

    /// Number of credits that were dropped because the host's credit queue was full (ExpressPass).
    pub fn dropped_credits(&self) -> u64 {
        self.credited.as_ref().map_or(0, |credited| credited.credits.dropped())
    }

    /// The sending ends of the flows that this host has started and that have not completed, in no order.
    /// Flows that wait for a connection are not among them.
    pub fn open_flows<'a>(&'a self, flows: &'a Flows) -> impl Iterator<Item = &'a Sender> {
        self.open.iter().map(|&slot| &flows.senders[slot as usize])
    }

    /// How the host's NIC was paused.
    pub fn pauses(&self) -> HostPauses {
        self.pauses.as_deref().copied().unwrap_or_default()
    }

    /// The host's counters.
    pub fn counters(&self) -> HostCounters {
        self.counters
    }

    /// The packets that wait here, for checks.
    pub fn packets<'a>(&'a self, pool: &'a PacketPool) -> impl Iterator<Item = &'a Packet> {
        let credited = self.credited.iter();
        let waiting = credited
            .flat_map(|credited| credited.credits.packets(pool).chain(credited.data.packets(pool)));
        self.control.packets(pool).chain(waiting)
    }
}

#[cfg(test)]
mod bench;
#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
