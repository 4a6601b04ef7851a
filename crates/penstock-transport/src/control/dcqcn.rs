//! DCQCN: the rate falls with every congestion notification and recovers on a timer and a byte counter.
//!
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, Sec. 3.
//! Implemented: the reaction point (Fig. 7), with the estimate alpha, fast recovery, additive and hyper
//! increase; and the notification point (Fig. 6). The notification point sends a congestion
//! notification packet for a marked data packet, at most one per interval and flow. With `notify_at =
//! "tick"` it does so as the released simulator (bobzhuyb/ns3-rdma, `QbbNetDevice::CheckandSendQCN`): a
//! clock ticks from the first packet of a flow on, and at a tick the source is notified if a packet
//! since the last tick was marked. A first packet that is marked is notified at once. The switch does the
//! marking. Left out: the limit on the notifications of a whole NIC, which the paper mentions as a
//! property of hardware. The variant of NVIDIA's firmware is [`super::dcqcn_mellanox`].
//!
//! The authors' released simulator has other rules. Its alpha starts at 0.5 (`first_estimate`) and is
//! updated before a cut (`cut_by`), and its recovery is built on QCN's (`released_recovery.rs`).
//!
//! Where the paper is silent:
//! - The byte counter counts bytes on the wire, retransmissions included (our choice).
//! - "F = 5" makes the fifth expiry the first additive one, as its test `max(T, BC) < F` says.
//! - The rate is a whole number of bits per second. Half of an odd sum is rounded up, so that the rate
//!   reaches the line rate. At line rate neither timer nor counter runs until the next notification
//!   (our choice; they would change nothing).
//! - A pause of FAFC cuts the rate as a notification does: the rate before it becomes the target, and
//!   timer and counter restart. Alpha stays, as it is an estimate of the marks (our choice; FAFC's
//!   Algorithm 3 says of the rate alone what becomes of it).
//! - A drop that a switch reports changes nothing (our choice: no source combines the two).

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::source::{DCQCN_PAPER, HPCC_SIMULATOR};
use penstock_units::{BitRate, Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::alpha::Alpha;
use crate::control::hooks::{AtDestination, AtSource, Parameters};
use crate::control::paced_rate::RateWindow;
use crate::control::released_recovery::ReleasedRecovery;
use crate::control::stages::{Climb, Steps};
use crate::control::ticks::Ticks;
use crate::flow::FlowFacts;
use crate::notification::Notification;

/// The source of values that the authors published outside the paper.
const DCQCN_SIMULATOR: &str = "released DCQCN simulator (bobzhuyb/ns3-rdma), configuration";

/// The source of what the authors' simulator does.
const DCQCN_SIMULATOR_CODE: &str = "released DCQCN simulator (bobzhuyb/ns3-rdma)";

/// Parameters of [`Dcqcn`].
#[derive(Clone, Debug, PartialEq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(deny_unknown_fields)]
pub struct DcqcnConfig {
    /// Weight of a new estimate (g).
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "default" = 1.0 / 256.0,
            "source" = format!("{DCQCN_PAPER}; {DCQCN_SIMULATOR}: DCTCP_GAIN")
        )
    )]
    pub gain: f64,
    /// The estimate of a flow that was never notified (alpha); 1 or less.
    #[schemars(
        range(min = 0, max = 1),
        extend(
            "default" = 1.0,
            "source" = format!("{DCQCN_PAPER}; {DCQCN_SIMULATOR_CODE}: 0.5")
        )
    )]
    pub first_estimate: f64,
    /// The estimate that a cut takes.
    #[schemars(extend(
        "default" = "estimate",
        "source" = format!("{DCQCN_PAPER}, eq. 1; {DCQCN_SIMULATOR_CODE}: raised-estimate")
    ))]
    pub cut_by: CutBy,
    /// Time without a notification after which the estimate decays, again and again (K).
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend(
            "default" = "55 us",
            "source" = format!("{DCQCN_PAPER}; {DCQCN_SIMULATOR}: ALPHA_RESUME_INTERVAL")
        )
    )]
    pub alpha_interval: Time,
    /// A receiver notifies the source of a flow no more often (N); 100 ns or more with ticks.
    #[schemars(extend(
        "default" = "50 us",
        "source" = format!("{DCQCN_PAPER}; {DCQCN_SIMULATOR}: CNP_INTERVAL; PCN 3.2")
    ))]
    pub notification_interval: Time,
    /// When a receiver notifies.
    #[schemars(extend(
        "default" = "mark",
        "source" = format!("{DCQCN_PAPER}, fig. 6; {DCQCN_SIMULATOR_CODE}: tick")
    ))]
    pub notify_at: NotifyAt,
    /// The rules by which the rate recovers.
    #[schemars(extend(
        "default" = "paper",
        "source" = format!("{DCQCN_PAPER}, fig. 7; {DCQCN_SIMULATOR_CODE}: released")
    ))]
    pub recovery: RateRecovery,
    /// Time between two increases (T).
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend(
            "default" = "55 us",
            "source" = format!("{DCQCN_PAPER}; {HPCC_SIMULATOR}: RP_TIMER of dcqcn_paper in run.py")
        )
    )]
    pub increase_interval: Time,
    /// Bytes on the wire between two increases (B); 0: no byte counter.
    ///
    /// The authors' configuration has 300 MB, so that their counter hardly ever counts.
    #[schemars(extend(
        "default" = "10 MB",
        "source" = "said to be the DCQCN paper's for 40 Gb/s, which was not at hand"
    ))]
    pub increase_bytes: Bytes,
    /// Expiry of the timer or the counter from which on the target grows (F).
    #[schemars(extend(
        "default" = 5,
        "source" = format!("{DCQCN_PAPER}; {DCQCN_SIMULATOR}: FAST_RECOVERY_TIMES")
    ))]
    pub fast_recovery_rounds: u32,
    /// Added to the target by an additive increase (R_AI).
    #[schemars(
        range(min = 1),
        extend(
            "default" = "40 Mb/s",
            "source" = format!("{DCQCN_PAPER}, for 40 Gb/s; {DCQCN_SIMULATOR}: RATE_AI")
        )
    )]
    pub additive_increase: BitRate,
    /// Added to the target by a hyper increase, times its number (R_HAI).
    #[schemars(
        range(min = 1),
        extend(
            "default" = "200 Mb/s",
            "source" = format!("{DCQCN_SIMULATOR}: RATE_HAI")
        )
    )]
    pub hyper_increase: BitRate,
    /// Rate below which no flow falls.
    #[schemars(
        range(min = 1),
        extend(
            "default" = "100 Mb/s",
            "source" = format!("{DCQCN_SIMULATOR_CODE}: the default of MinRate")
        )
    )]
    pub minimum_rate: BitRate,
    /// In flight at most: anything, one BDP, or BDP x rate / line rate.
    #[schemars(extend("default" = "none", "source" = DCQCN_PAPER))]
    pub window: RateWindow,
}

/// The estimate that a cut takes: the rate keeps 1 - estimate / 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutBy {
    /// The estimate from before the notification, which raises it afterwards.
    Estimate,
    /// The estimate that the notification has raised.
    RaisedEstimate,
}

/// The rules by which the rate recovers from a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateRecovery {
    /// Those of the paper: hyper increase once both have expired more than F times.
    Paper,
    /// Those of the released simulator: hyper increase at F, in halved periods; a far target falls.
    Released,
}

/// When a receiver notifies the source of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotifyAt {
    /// At a marked packet, an interval or more after the last notification.
    Mark,
    /// Once an interval from the first packet on, if a packet since then was marked.
    Tick,
}

impl Parameters for DcqcnConfig {
    fn check(&self, problems: &mut Problems) {
        let ticks = self.notify_at == NotifyAt::Tick;
        let holds = !ticks || self.notification_interval >= Time::LEAST_PERIOD;
        let remedy = format!(
            "a clock that ticks needs time between two ticks; write {} or more, or notify_at = \"mark\"",
            Time::LEAST_PERIOD
        );
        problems.unless(holds, "notification_interval", self.notification_interval, remedy);
    }

    fn uses_marks(&self) -> bool {
        true
    }
}

/// The state of one flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Dcqcn {
    config: DcqcnConfig,
    /// R_C and R_T in the paper, and its T and BC.
    climb: Climb,
    /// Changes by the released simulator's rules alone.
    released: ReleasedRecovery,
    /// The clock of alpha runs from the first notification on.
    alpha: Alpha,
}

impl Dcqcn {
    /// A flow that has sent nothing. The flow starts at line rate.
    pub fn new(config: &DcqcnConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        Dcqcn {
            config: config.clone(),
            climb: Climb::new(path, config.minimum_rate, config.window),
            released: ReleasedRecovery::default(),
            alpha: Alpha::new(config.first_estimate, config.gain, config.alpha_interval),
        }
    }

    /// A cut at `now`: the rate keeps the share `kept`, and recovers towards what it was.
    fn cut(&mut self, now: Time, kept: f64) {
        self.climb.target = self.climb.rate.get();
        self.climb.rate.scale(kept);
        self.climb.stages.restart(now, self.config.increase_interval);
        self.released = ReleasedRecovery::default();
    }

    /// The timer or the counter has expired (Fig. 7).
    fn increase(&mut self) {
        self.climb.raise(&Steps {
            first: self.config.fast_recovery_rounds,
            both: self.config.fast_recovery_rounds,
            additive: self.config.additive_increase,
            hyper: self.config.hyper_increase,
        });
        self.climb.approach();
    }
}

impl AtSource for Dcqcn {
    fn on_notification(&mut self, now: Time, _notification: Notification) {
        self.on_deadline(now);
        self.alpha.catch_up(now, false);
        let before = self.alpha.get();
        self.alpha.update(true);
        let taken = match self.config.cut_by {
            CutBy::Estimate => before,
            CutBy::RaisedEstimate => self.alpha.get(),
        };
        self.cut(now, 1.0 - taken / 2.0);
        self.alpha.start(now);
    }

    /// The host is paused: the flow keeps the share `kept` of its rate (FAFC, Algorithm 3).
    fn on_timed_pause(&mut self, now: Time, kept: f64) {
        self.on_deadline(now);
        self.cut(now, kept);
    }

    fn on_send(&mut self, now: Time, wire_bytes: u32) {
        self.on_deadline(now);
        let period = self.released.counter_period(&self.config);
        if self.climb.stages.on_send(wire_bytes, period.get()) {
            match self.config.recovery {
                RateRecovery::Paper => self.increase(),
                RateRecovery::Released => self.released.on_counter(&self.config, &mut self.climb),
            }
        }
    }

    /// When the timer expires (ps); [`Time::NEVER`] when it does not run.
    #[inline]
    fn deadline(&self) -> Time {
        self.climb.stages.deadline()
    }

    /// Serves everything that is due by `now`.
    fn on_deadline(&mut self, now: Time) {
        while self.climb.stages.deadline() <= now {
            match self.config.recovery {
                RateRecovery::Paper => {
                    self.climb.stages.on_timer(|_| self.config.increase_interval);
                    self.increase();
                }
                RateRecovery::Released => self.released.on_timer(&self.config, &mut self.climb),
            }
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        self.climb.rate.window()
    }

    #[inline]
    fn rate(&self) -> Option<BitRate> {
        self.climb.rate.rate()
    }
}

/// The notification point of one flow, at its receiver.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) enum NotificationPoint {
    /// It notifies at a mark.
    Mark {
        /// Shortest time between two notifications (ps).
        interval: Time,
        /// When the next notification may leave (ps).
        earliest: Time,
    },
    /// It notifies at a tick.
    Tick {
        ticks: Ticks,
        /// Whether a packet since the last tick was marked.
        has_mark: bool,
    },
}

/// What both kinds tell.
const CONGESTED: Notification = Notification { is_congested: true, receiving_rate: 0 };

impl NotificationPoint {
    /// The notification point of a new flow. It reports a mark of the first packet at once.
    pub(crate) fn new(config: &DcqcnConfig, _flow: &FlowFacts) -> Self {
        let interval = config.notification_interval;
        match config.notify_at {
            NotifyAt::Mark => NotificationPoint::Mark { interval, earliest: Time::ZERO },
            NotifyAt::Tick => {
                NotificationPoint::Tick { ticks: Ticks::new(interval), has_mark: false }
            }
        }
    }
}

impl AtDestination for NotificationPoint {
    #[inline]
    fn on_data(&mut self, now: Time, _wire_bytes: u32, is_marked: bool) -> Option<Notification> {
        let told = self.on_deadline(now);
        match self {
            NotificationPoint::Mark { interval, earliest } => {
                if !is_marked || now < *earliest {
                    return None;
                }
                *earliest = now.saturating_add(*interval);
                Some(CONGESTED)
            }
            NotificationPoint::Tick { ticks, has_mark } if ticks.is_running() => {
                ticks.pass(now);
                *has_mark |= is_marked;
                told
            }
            NotificationPoint::Tick { ticks, .. } => {
                ticks.start(now);
                is_marked.then_some(CONGESTED)
            }
        }
    }

    /// The next tick at which there is something to tell (ps); [`Time::NEVER`] otherwise.
    #[inline]
    fn deadline(&self) -> Time {
        match self {
            NotificationPoint::Tick { ticks, has_mark: true } => ticks.next(),
            _ => Time::NEVER,
        }
    }

    fn on_deadline(&mut self, now: Time) -> Option<Notification> {
        if now < self.deadline() {
            return None;
        }
        if let NotificationPoint::Tick { has_mark, .. } = self {
            *has_mark = false;
        }
        Some(CONGESTED)
    }
}

#[cfg(test)]
#[path = "dcqcn_tests.rs"]
pub(crate) mod tests;
