//! Which controller a scheme uses, and what it needs of packets, switches and receivers.

use alloc::boxed::Box;

use penstock_units::Problems;
use serde::{Deserialize, Serialize};

use super::{
    DcqcnConfig, DcqcnMellanoxConfig, DctcpConfig, DelayConfig, ExpressPassConfig, HomaConfig,
    HpccConfig, NewRenoConfig, PacketPairConfig, PcnConfig, QcnConfig, SwiftConfig, TimelyConfig,
    WindowConfig, expresspass,
};
use crate::notification::NotificationPoint;
use crate::path::PathFacts;
use crate::receiving_rate::ReceivingRate;

/// Which controller the flows of a scheme use, with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ControllerConfig {
    /// No control: no window and no rate, a flow sends whenever the NIC lets it. Written with
    /// braces so that parsing refuses stray fields.
    LineRate {},
    /// A constant window.
    Window(WindowConfig),
    /// DCTCP.
    Dctcp(DctcpConfig),
    /// HPCC.
    Hpcc(HpccConfig),
    /// BFC's delay controller.
    Delay(DelayConfig),
    /// DCQCN as in NVIDIA's firmware.
    DcqcnMellanox(DcqcnMellanoxConfig),
    /// DCQCN as in its paper.
    Dcqcn(DcqcnConfig),
    /// QCN.
    Qcn(QcnConfig),
    /// TIMELY.
    Timely(TimelyConfig),
    /// TCP NewReno's congestion control.
    NewReno(NewRenoConfig),
    /// Swift.
    Swift(SwiftConfig),
    /// PCN.
    Pcn(PcnConfig),
    /// Packet-pair flow control.
    PacketPair(PacketPairConfig),
    /// Homa's grants.
    Homa(HomaConfig),
    /// ExpressPass. Written as one word, as its authors do.
    #[serde(rename = "expresspass")]
    ExpressPass(ExpressPassConfig),
}

impl ControllerConfig {
    /// The `kind` that names the controller in a scenario.
    pub fn kind(&self) -> &'static str {
        match self {
            ControllerConfig::LineRate {} => "line-rate",
            ControllerConfig::Window(_) => "window",
            ControllerConfig::Dctcp(_) => "dctcp",
            ControllerConfig::Hpcc(_) => "hpcc",
            ControllerConfig::Delay(_) => "delay",
            ControllerConfig::DcqcnMellanox(_) => "dcqcn-mellanox",
            ControllerConfig::Dcqcn(_) => "dcqcn",
            ControllerConfig::Qcn(_) => "qcn",
            ControllerConfig::Timely(_) => "timely",
            ControllerConfig::NewReno(_) => "new-reno",
            ControllerConfig::Swift(_) => "swift",
            ControllerConfig::Pcn(_) => "pcn",
            ControllerConfig::PacketPair(_) => "packet-pair",
            ControllerConfig::Homa(_) => "homa",
            ControllerConfig::ExpressPass(_) => "expresspass",
        }
    }

    /// Whether the controller needs per-hop telemetry in its acknowledgements.
    pub fn uses_telemetry(&self) -> bool {
        matches!(self, ControllerConfig::Hpcc(_))
    }

    /// Whether the controller reacts to the congestion marks of data packets.
    pub fn uses_marks(&self) -> bool {
        matches!(
            self,
            ControllerConfig::Dctcp(_)
                | ControllerConfig::DcqcnMellanox(_)
                | ControllerConfig::Dcqcn(_)
                | ControllerConfig::Pcn(_)
        )
    }

    /// Whether the controller reacts to the feedback of switches.
    pub fn uses_feedback(&self) -> bool {
        matches!(self, ControllerConfig::Qcn(_))
    }

    /// Whether packets leave in pairs whose gap the receiver measures.
    pub fn uses_pairs(&self) -> bool {
        matches!(self, ControllerConfig::PacketPair(_))
    }

    /// Bytes of a flow that its receiver expects without having granted them; all of them without
    /// grants.
    pub(crate) fn unscheduled_bytes(&self, path: &PathFacts) -> u64 {
        match self {
            ControllerConfig::Homa(config) => config.rtt_bytes(path),
            _ => u64::MAX,
        }
    }

    /// ExpressPass, where data leave only for credits of the receiver.
    pub fn expresspass(&self) -> Option<&ExpressPassConfig> {
        match self {
            ControllerConfig::ExpressPass(config) => Some(config),
            _ => None,
        }
    }

    /// The notification point of a new flow, which sends what the controller listens to.
    pub(crate) fn notification_point(&self, path: &PathFacts) -> NotificationPoint {
        match self {
            ControllerConfig::Dcqcn(config) => {
                NotificationPoint::marks(config.notification_interval)
            }
            ControllerConfig::Pcn(config) => NotificationPoint::Periods(Box::new(
                ReceivingRate::new(config.notification_interval, config.marked_share),
            )),
            ControllerConfig::ExpressPass(config) => {
                NotificationPoint::Credits(Box::new(expresspass::Destination::new(config, path)))
            }
            _ => NotificationPoint::Silent,
        }
    }

    /// Whether data packets and acknowledgements carry a timestamp for the controller.
    pub fn uses_timestamp(&self) -> bool {
        matches!(self, ControllerConfig::Timely(_) | ControllerConfig::Swift(_))
    }

    /// Whether the controller has no other sign of congestion than the losses that recovery reports
    /// before a timeout ([`FastRetransmit`](crate::flow::LossSignal::FastRetransmit)).
    pub fn needs_losses(&self) -> bool {
        matches!(self, ControllerConfig::NewReno(_))
    }

    /// Checks every field against its bounds.
    pub fn check(&self, problems: &mut Problems) {
        match self {
            ControllerConfig::LineRate {} => {}
            ControllerConfig::Window(config) => config.check(problems),
            ControllerConfig::Dctcp(config) => config.check(problems),
            ControllerConfig::Hpcc(config) => config.check(problems),
            ControllerConfig::Delay(config) => config.check(problems),
            ControllerConfig::DcqcnMellanox(config) => config.check(problems),
            ControllerConfig::Dcqcn(config) => config.check(problems),
            ControllerConfig::Qcn(config) => config.check(problems),
            ControllerConfig::Timely(config) => config.check(problems),
            ControllerConfig::NewReno(config) => config.check(problems),
            ControllerConfig::Swift(config) => config.check(problems),
            ControllerConfig::Pcn(config) => config.check(problems),
            ControllerConfig::PacketPair(config) => config.check(problems),
            ControllerConfig::Homa(config) => config.check(problems),
            ControllerConfig::ExpressPass(config) => config.check(problems),
        }
    }
}
