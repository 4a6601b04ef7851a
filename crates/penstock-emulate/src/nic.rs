//! The NIC of a host with a kernel: a switch with two ports that gives flows queues and obeys pauses.

use penstock_fabric::admission::static_port::StaticConfig;
use penstock_fabric::assignment::class::ByClassConfig;
use penstock_fabric::backpressure::none::NoneConfig as NoBackpressure;
use penstock_fabric::marking::none::NoneConfig as NoMarking;
use penstock_fabric::scheduling::fifo::FifoConfig;
use penstock_fabric::scheduling::strict::StrictConfig;
use penstock_fabric::{
    AdmissionConfig, AssignmentConfig, BackpressureConfig, MarkingConfig, SchedulingConfig,
    SwitchConfig,
};
use penstock_units::Bytes;

/// What NICs of hosts with kernels do beside switches that make the choices of `switch`. Where switches
/// pause queues of flows, the NIC takes part like a port of a switch (BFC sec. 3); elsewhere it has a queue
/// for each class. Each port holds at most `memory`, and what comes beyond is dropped: a kernel cannot be
/// paused. The NIC marks nothing.
pub fn beside(switch: &SwitchConfig, memory: Bytes) -> SwitchConfig {
    let classes = switch.assignment.classes();
    let (assignment, scheduling) = match &switch.assignment {
        AssignmentConfig::Dynamic(_) => (switch.assignment.clone(), switch.scheduling.clone()),
        _ if classes > 1 => (by_class(classes), SchedulingConfig::Strict(StrictConfig {})),
        _ => (by_class(1), SchedulingConfig::Fifo(FifoConfig {})),
    };
    SwitchConfig {
        admission: AdmissionConfig::Static(StaticConfig { per_port: memory, other_tiers: vec![] }),
        assignment,
        scheduling,
        marking: MarkingConfig::None(NoMarking {}),
        backpressure: BackpressureConfig::None(NoBackpressure {}),
    }
}

fn by_class(classes: u32) -> AssignmentConfig {
    AssignmentConfig::Class(ByClassConfig { classes })
}
