//! Flows that are given one by one: traces and long-lived flows.

use penstock_engine::stream::stream;
use penstock_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use super::draw::unit;
use super::entry::{Entry, FlowArrival};
use super::error::WorkloadError;
use super::pair::check_host;

/// A listed entry of the `traffic` list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// Name in tables and figures, not empty.
    pub label: String,
    /// Priority, 0 = highest data class.
    pub class: u8,
    /// (source host, destination host, size in bytes or 0 = endless, start in ps), in any order;
    /// flows of the same start keep theirs.
    pub flows: Vec<(u32, u32, Bytes, Time)>,
    /// Each flow starts up to so much later, evenly drawn (ps).
    pub spread: Time,
    /// UDP destination port of each flow, or empty for 0: what ECMP hashes under the fidelity of the
    /// ns-3 HPCC simulator.
    pub destination_ports: Vec<u16>,
}

/// The flows of one entry, in time order.
pub(super) type ListedFlows = std::vec::IntoIter<FlowArrival>;

impl Listed {
    /// Checks the entry and sorts its flows.
    pub(super) fn flows(&self, entry: &Entry) -> Result<ListedFlows, WorkloadError> {
        if self.flows.is_empty() {
            let remedy = "write at least one flow";
            return Err(WorkloadError::new(format!("{}.flows", entry.field()), "[]", remedy));
        }
        let ports = self.destination_ports.len();
        if ports != 0 && ports != self.flows.len() {
            let remedy = format!("write one for each of the {} flows, or none", self.flows.len());
            let field = format!("{}.destination_ports", entry.field());
            return Err(WorkloadError::new(field, format!("a list of {ports}"), remedy));
        }
        let mut random = stream(entry.seed, &format!("traffic/{}/starts", entry.index));
        let mut flows = Vec::with_capacity(self.flows.len());
        for (position, &(source, destination, size, time)) in self.flows.iter().enumerate() {
            let at = format!("{}.flows[{position}]", entry.field());
            check_host(&format!("{at}[0]"), source, entry.topology.hosts)?;
            check_host(&format!("{at}[1]"), destination, entry.topology.hosts)?;
            if source == destination {
                let remedy = "it is the flow's source as well; write another host";
                return Err(WorkloadError::new(format!("{at}[1]"), destination, remedy));
            }
            if time >= entry.duration {
                let remedy = format!(
                    "traffic ends at {}; write an earlier start, or a longer duration",
                    entry.duration
                );
                return Err(WorkloadError::new(format!("{at}[3]"), time, remedy));
            }
            if time.saturating_add(self.spread) >= entry.duration {
                let remedy = format!(
                    "flow {position} starts at {time} and traffic ends at {}; write a smaller \
                     spread, or a longer duration",
                    entry.duration
                );
                let field = format!("{}.spread", entry.field());
                return Err(WorkloadError::new(field, self.spread, remedy));
            }
            let later = unit(&mut random) * self.spread.as_ps() as f64;
            let time = time + Time::from_ps(later as u64);
            let (size, label, class) = (size.get(), entry.index, self.class);
            let destination_port = self.destination_ports.get(position).copied().unwrap_or(0);
            flows.push(FlowArrival {
                time,
                source,
                destination,
                size,
                label,
                class,
                destination_port,
            });
        }
        flows.sort_by_key(|flow| flow.time);
        Ok(flows.into_iter())
    }
}
