//! Congestion controllers: how many bytes of a flow may be in flight, and how fast they leave.
//!
//! A controller sees acknowledgements, the congestion that switches and the receiver report to the
//! source, the losses that recovery reports ([`LossSignal`]), the packets of its flow that leave, and
//! the time. A controller does not know which bytes were lost or what the NIC does. A controller may
//! have a half at the receiver. To add a controller, write its file (parameters, bounds, states, hooks,
//! citation, tests) and its line below.
//!
//! A controller may have timers. `deadline` is the time of the next one, and the driver calls
//! `on_deadline` then. A timer counts before anything else that happens at the same time. Only a tick of
//! alpha in [`dcqcn_mellanox`] may count after. So the order in which a driver takes the events of one
//! picosecond does not matter.
//!
//! Reading order: `hooks` (what a host asks of a controller), [`line_rate`], [`window`], [`delay`],
//! `most_in_flight` (shared by the controllers of TCP), [`new_reno`], `marked_share` (shared by the two
//! DCTCPs), [`reno_dctcp`], [`cubic`], [`pfabric`], [`swift`],
//! [`paced_rate`] (shared by the following ones), [`dctcp`], `last_hops` (shared by [`hpcc`]
//! and [`powertcp`]), [`hpcc`], `power` (shared by the next two), [`powertcp`], [`theta_powertcp`], `alpha`
//! (shared by the next two), [`dcqcn_mellanox`], `stages` (shared by the next two), [`dcqcn`], [`qcn`],
//! [`timely`], `ticks` (shared by [`dcqcn`] and the next), [`pcn`], [`packet_pair`], then the controllers
//! whose receiver decides: [`homa`], [`expresspass`], [`ndp`]. [`external`] is for controllers that are
//! not here.

use penstock_units::random::Pcg32;
use penstock_units::{BitRate, Time};

use crate::credit::{Credit, CreditSignal};
use crate::flow::{FlowView, LossSignal, SizeShare};
use crate::notification::Notification;
use crate::path::{Acknowledgement, PathFacts};
use crate::planner::Planner;

pub(crate) mod hooks;
pub mod paced_rate;

mod alpha;
mod homa_levels;
mod last_hops;
mod marked_share;
mod most_in_flight;
mod power;
mod released_recovery;
mod stages;
mod ticks;

pub use dcqcn::{CutBy, NotifyAt, RateRecovery};
use hooks::{AtDestination, AtSource, Parameters};
pub use paced_rate::{Increase, RateWindow};

ends! { $
    /// Which controller the flows of a scheme use, with its parameters.
    config ControllerConfig, each by of_config;
    /// The controller of one flow, at its sender. A large one is in a box, so that flows of the others
    /// stay small.
    source Controller, each by at_source;
    /// The controller's half at the receiver of the flow.
    destination Counterpart, each by at_destination;
    /// Send as fast as the interface lets.
    line_rate: LineRate(LineRateConfig => LineRate),
    /// At most a fixed amount in flight per flow, at line rate.
    window: Window(WindowConfig => Window),
    /// DCTCP: cut by the share of marked bytes.
    dctcp: Dctcp(DctcpConfig => Dctcp),
    /// HPCC: follow the utilization that telemetry reports.
    hpcc: Hpcc(HpccConfig => Hpcc),
    // The names are one word in scenarios, as the authors write theirs.
    /// PowerTCP: follow the power that telemetry reports.
    powertcp: Powertcp(PowerTcpConfig => PowerTcp),
    /// Theta-PowerTCP: follow the power that the round-trip time and its growth show.
    theta_powertcp: ThetaPowertcp(ThetaPowerTcpConfig => ThetaPowerTcp),
    /// BFC's delay controller (App. A.1): hold the round-trip time near a target.
    delay: Delay(DelayConfig => Delay),
    /// DCQCN as NVIDIA's firmware does it: marks in ACKs, a cut at most once an interval.
    dcqcn_mellanox: DcqcnMellanox(DcqcnMellanoxConfig => Box DcqcnMellanox),
    /// DCQCN as in its paper: notifications of the receiver, a timer and a byte counter.
    dcqcn: Dcqcn(DcqcnConfig => Box Dcqcn, NotificationPoint),
    /// QCN's reaction point: cut by a switch's feedback, recover on a timer and a byte counter.
    qcn: Qcn(QcnConfig => Box Qcn),
    /// TIMELY: follow the gradient of the round-trip time.
    timely: Timely(TimelyConfig => Box Timely),
    /// TCP NewReno: slow start, then a packet per round trip, halved by a loss.
    new_reno: NewReno(NewRenoConfig => NewReno),
    /// DCTCP on NewReno's window: cut by the share of marked bytes, clocked by acknowledgements.
    reno_dctcp: RenoDctcp(RenoDctcpConfig => Box RenoDctcp),
    /// TCP CUBIC: a cubic function of the time since the last loss, never slower than Reno.
    cubic: Cubic(CubicConfig => Box Cubic),
    /// pFabric: a full window at first, a packet after a timeout.
    pfabric: Pfabric(PfabricConfig => Pfabric),
    /// Swift: hold the delay near a target; windows may fall below one packet.
    swift: Swift(SwiftConfig => Box Swift),
    /// PCN: fall to the rate at which the receiver gets the flow, gain gently, then aggressively.
    pcn: Pcn(PcnConfig => Pcn, Box ReceivingRate),
    /// Packet-pair: send at the share that the gap between two packets at the receiver shows.
    packet_pair: PacketPair(PacketPairConfig => Box PacketPair, Box PairMeter),
    /// Homa: the first bytes of a flow blindly, the rest as its receiver grants them.
    homa: Homa(HomaConfig => Homa),
    // The name is one word in scenarios, as the authors write it.
    /// ExpressPass: a sender sends a packet for each credit of its receiver.
    expresspass: Expresspass(ExpressPassConfig => Box Source, Box Destination),
    /// NDP: the first bytes of a flow blindly, the rest as its receiver pulls them.
    ndp: Ndp(NdpConfig => Ndp, Pulls),
    /// A class in Python, which `penstock run` supplies.
    external: Python(ExternalConfig => External),
}

impl ControllerConfig {
    /// Whether the controller needs per-hop telemetry in its acknowledgements.
    pub fn uses_telemetry(&self) -> bool {
        of_config!(self, parameters => parameters.uses_telemetry())
    }

    /// Whether the controller reacts to the congestion marks of data packets.
    pub fn uses_marks(&self) -> bool {
        of_config!(self, parameters => parameters.uses_marks())
    }

    /// Whether the controller reacts to the feedback of switches.
    pub fn uses_feedback(&self) -> bool {
        of_config!(self, parameters => parameters.uses_feedback())
    }

    /// Whether data packets and acknowledgements carry a timestamp for the controller.
    pub fn uses_timestamp(&self) -> bool {
        of_config!(self, parameters => parameters.uses_timestamp())
    }

    /// Whether the controller has no other sign of congestion than the losses that recovery reports
    /// before a timeout ([`LossSignal::FastRetransmit`]).
    pub fn needs_losses(&self) -> bool {
        of_config!(self, parameters => parameters.needs_losses())
    }

    /// Whether flows may share open connections: the next one goes on with what this one has learnt.
    pub fn keeps_connections(&self) -> bool {
        of_config!(self, parameters => parameters.keeps_connections())
    }

    /// Whether [`ControllerConfig::follow_sizes`] changes anything.
    pub fn follows_sizes(&self) -> bool {
        of_config!(self, parameters => parameters.follows_sizes())
    }

    /// Fills in the parameters that are left open, by the sizes of the expected flows. The network has
    /// the longest path `path`, and its switches have `levels` priority levels, at least 2.
    pub fn follow_sizes(&mut self, sizes: &[SizeShare], path: &PathFacts, levels: u32) {
        of_config!(self, parameters => parameters.follow_sizes(sizes, path, levels));
    }

    /// See [`Parameters::planner`].
    pub(crate) fn planner(&self, path: &PathFacts, rate: BitRate) -> Option<Planner> {
        of_config!(self, parameters => parameters.planner(path, rate))
    }

    /// See [`Parameters::acknowledges_each`].
    pub(crate) fn acknowledges_each(&self) -> bool {
        of_config!(self, parameters => parameters.acknowledges_each())
    }

    /// See [`Parameters::unscheduled_bytes`].
    pub(crate) fn unscheduled_bytes(&self, path: &PathFacts) -> u64 {
        of_config!(self, parameters => parameters.unscheduled_bytes(path))
    }
}

/// The hooks of [`AtSource`].
impl Controller {
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        at_source!(self, policy => policy.window())
    }

    #[inline]
    pub(crate) fn rate(&self) -> Option<BitRate> {
        at_source!(self, policy => policy.rate())
    }

    #[inline]
    pub(crate) fn moves_pending_gap_in_ns3(&self) -> bool {
        at_source!(self, policy => policy.moves_pending_gap_in_ns3())
    }

    #[inline]
    pub(crate) fn has_moved_gap(&self) -> bool {
        at_source!(self, policy => policy.has_moved_gap())
    }

    pub(crate) fn on_acknowledgement(&mut self, now: Time, ack: &Acknowledgement, view: &FlowView) {
        at_source!(self, policy => policy.on_acknowledgement(now, ack, view))
    }

    pub(crate) fn on_notification(&mut self, now: Time, notification: Notification) {
        at_source!(self, policy => policy.on_notification(now, notification))
    }

    pub(crate) fn on_feedback(&mut self, now: Time, feedback: u8) {
        at_source!(self, policy => policy.on_feedback(now, feedback))
    }

    pub(crate) fn on_grant(&mut self, offset: u64, level: Option<u8>) {
        at_source!(self, policy => policy.on_grant(offset, level))
    }

    #[inline]
    pub(crate) fn level(&self, offset: u64) -> u8 {
        at_source!(self, policy => policy.level(offset))
    }

    #[inline]
    pub(crate) fn opens_pair(&self) -> bool {
        at_source!(self, policy => policy.opens_pair())
    }

    #[inline]
    pub(crate) fn on_send(&mut self, now: Time, wire_bytes: u32) {
        at_source!(self, policy => policy.on_send(now, wire_bytes))
    }

    pub(crate) fn on_credit(&mut self, now: Time, packets: u64) {
        at_source!(self, policy => policy.on_credit(now, packets))
    }

    #[inline]
    pub(crate) fn has_credit_signal(&self) -> bool {
        at_source!(self, policy => policy.has_credit_signal())
    }

    pub(crate) fn take_credit_signal(&mut self, now: Time, packets: u64) -> Option<CreditSignal> {
        at_source!(self, policy => policy.take_credit_signal(now, packets))
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        at_source!(self, policy => policy.deadline())
    }

    pub(crate) fn on_deadline(&mut self, now: Time) {
        at_source!(self, policy => policy.on_deadline(now))
    }

    pub(crate) fn on_switch_drop(&mut self, now: Time) {
        at_source!(self, policy => policy.on_switch_drop(now))
    }

    pub(crate) fn on_timed_pause(&mut self, now: Time, kept: f64) {
        at_source!(self, policy => policy.on_timed_pause(now, kept))
    }

    pub(crate) fn on_next_flow(&mut self, is_late: bool) {
        at_source!(self, policy => policy.on_next_flow(is_late))
    }

    pub(crate) fn on_loss(&mut self, now: Time, signal: LossSignal) {
        at_source!(self, policy => policy.on_loss(now, signal))
    }
}

/// The hooks of [`AtDestination`].
impl Counterpart {
    #[inline]
    pub(crate) fn on_data(
        &mut self,
        now: Time,
        wire_bytes: u32,
        is_marked: bool,
    ) -> Option<Notification> {
        at_destination!(self, policy => policy.on_data(now, wire_bytes, is_marked))
    }

    #[inline]
    pub(crate) fn pair_gap(
        &mut self,
        now: Time,
        offset: u64,
        payload: u32,
        opens_pair: bool,
    ) -> Time {
        at_destination!(self, policy => policy.pair_gap(now, offset, payload, opens_pair))
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        at_destination!(self, policy => policy.deadline())
    }

    pub(crate) fn on_deadline(&mut self, now: Time) -> Option<Notification> {
        at_destination!(self, policy => policy.on_deadline(now))
    }

    pub(crate) fn on_credit_signal(&mut self, now: Time, signal: CreditSignal) {
        at_destination!(self, policy => policy.on_credit_signal(now, signal))
    }

    pub(crate) fn take_credit(&mut self, now: Time, rng: &mut Pcg32) -> Option<Credit> {
        at_destination!(self, policy => policy.take_credit(now, rng))
    }

    pub(crate) fn on_credited_data(&mut self, now: Time, number: u16, elapsed: Time) {
        at_destination!(self, policy => policy.on_credited_data(now, number, elapsed))
    }

    pub(crate) fn asks_for_pull(&mut self, trimmed: u32) -> bool {
        at_destination!(self, policy => policy.asks_for_pull(trimmed))
    }

    pub(crate) fn take_pull(&mut self) -> (u64, bool) {
        at_destination!(self, policy => policy.take_pull())
    }
}
