//! Flows that are given one by one: traces and long-lived flows.

use penstock_engine::stream::stream;
use penstock_units::{Bytes, Problem, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::draw::unit;
use super::entry::{Entry, FlowArrival};
use super::pair::check_host;

/// A listed entry of the `traffic` list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub(super) fn flows(&self, entry: &Entry, problems: &mut Problems) -> ListedFlows {
        let field = entry.field();
        let (ports, listed) = (self.destination_ports.len(), self.flows.len());
        problems.unless(listed > 0, &format!("{field}.flows"), "[]", "write at least one flow");
        let remedy = format!("write one for each of the {listed} flows, or none");
        let (at, value) = (format!("{field}.destination_ports"), format!("a list of {ports}"));
        problems.unless(listed == 0 || ports == 0 || ports == listed, &at, value, remedy);
        let mut random = stream(entry.seed, &format!("traffic/{}/starts", entry.index));
        let mut flows = Vec::with_capacity(listed);
        for (position, &(source, destination, size, time)) in self.flows.iter().enumerate() {
            if let Err(problem) = self.check_flow(position, entry) {
                problems.add(problem);
                continue;
            }
            if time.saturating_add(self.spread) >= entry.duration {
                self.refuse_spread(position, entry, problems);
                continue;
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
        flows.into_iter()
    }

    /// Refuses a flow between hosts that there are not, or after the end of the traffic.
    fn check_flow(&self, position: usize, entry: &Entry) -> Result<(), Problem> {
        let (source, destination, _, time) = self.flows[position];
        let at = format!("{}.flows[{position}]", entry.field());
        check_host(&format!("{at}[0]"), source, entry.topology.hosts)?;
        check_host(&format!("{at}[1]"), destination, entry.topology.hosts)?;
        if source == destination {
            let remedy = "it is the flow's source as well; write another host";
            return Err(Problem::new(format!("{at}[1]"), destination, remedy));
        }
        if time >= entry.duration {
            let remedy = format!(
                "traffic ends at {}; write an earlier start, or a longer duration",
                entry.duration
            );
            return Err(Problem::new(format!("{at}[3]"), time, remedy));
        }
        Ok(())
    }

    /// Refuses the spread because of the first flow that it may start too late.
    fn refuse_spread(&self, position: usize, entry: &Entry, problems: &mut Problems) {
        let field = format!("{}.spread", entry.field());
        let remedy = format!(
            "flow {position} starts at {} and traffic ends at {}; write a smaller spread, or a \
             longer duration",
            self.flows[position].3, entry.duration
        );
        let is_told = !problems.is_sound(&field);
        problems.unless(is_told, &field, self.spread, remedy);
    }
}
