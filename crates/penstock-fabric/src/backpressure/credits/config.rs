//! The parameters of BFC with credits, and the policies that they go together with.

use alloc::format;

use penstock_packet::{PortFacts, SwitchFacts};
use penstock_units::{Bytes, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::backpressure::bfc::{BfcConfig, fits_numbers};
use crate::backpressure::policy::{Parameters, Repeats};
use crate::config::{Surroundings, SwitchConfig};

/// The largest size in the parameters of credits (bytes); our choice: a thousand packets.
const LARGEST: u64 = 1 << 20;

/// Parameters of BFC with credits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreditsConfig {
    /// BFC's pauses.
    #[schemars(extend("default" = {}, "source" = "BFC 3.3.2"))]
    pub pauses: BfcConfig,
    /// A full packet on the wire: what a queue must be able to pay before it sends.
    #[schemars(
        range(min = 1, max = LARGEST),
        extend(
            "default" = "1048 B",
            "source" = "our choice: a queue need not look at its head packet"
        )
    )]
    pub packet: Bytes,
    /// Memory that each upstream queue has for itself.
    #[schemars(
        range(min = 1, max = LARGEST),
        extend(
            "default" = "1048 B",
            "source" = "our choice: one packet, the least that lets every queue go on"
        )
    )]
    pub queue_reserve: Bytes,
    /// Credit of a link that is worth a frame (N2 of Kung).
    #[schemars(
        range(max = LARGEST),
        extend(
            "default" = "8384 B",
            "source" = "our choice: 64 B of frame in 8 packets, 0.8 % of the way back"
        )
    )]
    pub batch: Bytes,
}

impl CreditsConfig {
    /// Unused credit that keeps the link of `port` busy (bytes).
    pub(super) fn window(&self, facts: &SwitchFacts, port: &PortFacts) -> u64 {
        let hop = port.rate.bytes_in(facts.hop_rtt_of(port)).get();
        hop + self.batch.get() + 3 * self.packet.get()
    }
}

impl Parameters for CreditsConfig {
    fn check(&self, problems: &mut Problems) {
        problems.within("pauses", |problems| self.pauses.check(problems));
        if problems.has_sound("packet") && problems.has_sound("queue_reserve") {
            let (packet, reserve) = (self.packet, self.queue_reserve);
            let remedy = format!(
                "it does not hold a packet of {packet}; make it at least as large as packet"
            );
            problems.unless(reserve >= packet, "queue_reserve", reserve, remedy);
        }
    }

    fn fits(&self, switch: &SwitchConfig, around: &Surroundings, problems: &mut Problems) {
        for (is_there, what, fault) in [
            (around.has_outages, "a failed link loses", "outages"),
            (around.corrupts_frames, "arrive corrupted", "corruption"),
        ] {
            let remedy = format!(
                "credit for packets that {what} is not recovered; use \"bfc\", or leave out faults.{fault}"
            );
            problems.unless(!is_there, "backpressure.kind", "credits", remedy);
        }
        let admission = &switch.admission;
        let remedy = "credits are granted from one memory, without thresholds of an ingress; use \
                      admission \"shared\" without an ingress table";
        problems.unless(admission.is_plain_pool(), "admission.kind", admission.kind(), remedy);
        if let Some(packet) = around.packet.filter(|_| problems.has_sound("backpressure.packet")) {
            let remedy = format!("a packet on the wire has {packet}; write at least {packet}");
            problems.unless(self.packet >= packet, "backpressure.packet", self.packet, remedy);
        }
        fits_numbers(switch, problems);
    }

    fn pauses_queues(&self) -> bool {
        true
    }

    fn has_credits(&self) -> bool {
        true
    }

    /// A bitmap, the grant of the link and that of a queue.
    fn repeats(&self, _: u32) -> Option<Repeats> {
        let repeats = self.pauses.repeats(1)?;
        Some(Repeats { field: "pauses.bitmap_interval", frames: 3, ..repeats })
    }

    fn set_aside(&self, facts: &SwitchFacts, queues: usize) -> u64 {
        let reserves = queues as u64 * self.queue_reserve.get();
        facts.ports.iter().map(|port| self.window(facts, port) + reserves).sum()
    }
}
