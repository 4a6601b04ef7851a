//! What FAFC is told, and the choices that its paper leaves open.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pause_unit::PauseUnit;
use crate::backpressure::pfc::PfcConfig;
use crate::backpressure::policy::{Parameters, Repeats};
use crate::config::{Surroundings, SwitchConfig};

/// The most hops of data that count as uncongested; our choice: seconds.
const LARGEST_HOPS: f64 = 1e6;

/// Which queue must be short for egress k to count as uncongested when pauses of ingress i are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CongestedQueue {
    /// All that the egress holds, q_*k (eq. 9).
    Egress,
    /// What the egress holds of the ingress, q_ik (Algorithm 2, line 6). Each of many senders into one long
    /// queue then counts as uncongested.
    Pair,
}

/// Where f_dec multiplies the arrival rates r^i_ie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecreaseIn {
    /// In what a pause takes off the egress, and in the arrivals that the growth r_*e consists of.
    NeedAndRelief,
    /// In what a pause takes off the egress only (Algorithm 2, line 13), which makes pauses longer.
    Relief,
}

/// Parameters of FAFC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FafcConfig {
    /// Predicted queue of an egress beyond which its ingresses pause (th_p).
    #[schemars(
        range(min = 1),
        extend("default" = "350 kB", "source" = "FAFC (Lu et al.) IV-A")
    )]
    pub threshold: Bytes,
    /// Weight of a new queue length (alpha).
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.8, "source" = "FAFC (Lu et al.) III-A")
    )]
    pub queue_smoothing: f64,
    /// Weight of a new rate (beta).
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.8, "source" = "FAFC (Lu et al.) III-A")
    )]
    pub rate_smoothing: f64,
    /// An egress with more data than it sends in so many T_hop is congested (th_c).
    #[schemars(
        range(min = 0, max = LARGEST_HOPS),
        extend(
            "default" = 1.0,
            "source" = "our choice: a longer queue loses nothing in a pause of T_hop (eq. 4)"
        )
    )]
    pub congested_hops: f64,
    /// Factor of arrival rates when an egress triggers again within 4 T_hop (f_dec).
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "default" = 0.9,
            "source" = "our choice: close to 1, as rates are measured anew in each T_hop"
        )
    )]
    pub rate_decrease: f64,
    /// Which queue tells whether an egress is congested.
    #[schemars(extend("default" = "egress", "source" = "FAFC (Lu et al.) II-D, eq. 9"))]
    pub congested_queue: CongestedQueue,
    /// Where the factor of arrival rates counts.
    #[schemars(extend(
        "default" = "need-and-relief",
        "source" = "our choice: the factor is against pauses that are too long (FAFC III-D)"
    ))]
    pub decrease_in: DecreaseIn,
    /// Share of what an egress beyond the threshold sends by which its queue shall shrink.
    ///
    /// With 0, as in the paper, the queue shall not grow. With more than 0 ingresses stay paused as long as
    /// it is beyond the threshold, also while it does not grow, and pauses are renewed once in T_hop.
    #[schemars(
        range(min = 0),
        extend(
            "exclusiveMaximum" = 1,
            "default" = 0.0,
            "source" = "FAFC (Lu et al.) II-D, eq. 7: the queue shall not grow; more than 0 is ours"
        )
    )]
    pub drain_share: f64,
    /// How long the pause times of an egress take to find.
    #[schemars(extend("default" = "0 ns", "source" = "FAFC (Lu et al.) III-B: almost instantly"))]
    pub solver_delay: Time,
    /// What a frame counts the length of a pause in.
    #[schemars(extend("default" = "nanoseconds", "source" = "FAFC (Lu et al.) III-B"))]
    pub pause_unit: PauseUnit,
    /// The safety net beneath.
    #[schemars(extend(
        "default" = {},
        "source" = "FAFC (Lu et al.) II-E: PFC with dynamic thresholds"
    ))]
    pub pfc: PfcConfig,
}

impl Parameters for FafcConfig {
    fn check(&self, problems: &mut Problems) {
        problems.within("pfc", |problems| self.pfc.check(problems));
        let is_at_once = self.drain_share == 0.0 || self.solver_delay == Time::ZERO;
        let remedy =
            "write 0 ns, because an egress with a drain_share finds its pauses in each T_hop";
        problems.unless(is_at_once, "solver_delay", self.solver_delay, remedy);
    }

    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        self.pfc.fits_beneath(switch, problems);
    }

    fn predicts_queues(&self) -> bool {
        true
    }

    /// PFC beneath repeats its pauses where they have a time.
    fn repeats(&self, epochs: u32) -> Option<Repeats> {
        let repeats = self.pfc.repeats(epochs)?;
        Some(Repeats { field: "pfc.pause.refresh", ..repeats })
    }
}
