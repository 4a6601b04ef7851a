//! The flows of lists and collectives, and who waits for whom, as tables: for people, and for files.
//!
//! What it is not: the flows of closed loops, which have no end, and flows that wait for nobody.

use crate::bounds;
use crate::error::ScenarioError;
use crate::measure::table::{Column, Table};
use crate::scenario::Scenario;
use crate::workload::{Event, Plan, Workload};

/// The tables `flows` and `edges` of the first `most` flows of `scenario` that depend on others, or on which
/// others depend. In `flows` a row is a flow, in the order of numbers; `start_ps` is when it starts, or may
/// start at the earliest (ps), and `needed` for how many events it waits. In `edges` a row is an event
/// (0 received, 1 acknowledged, 2 started) for which a flow waits, and how long after it the flow takes
/// notice (ps).
///
/// # Errors
/// When the scenario is refused.
pub fn planned(scenario: &Scenario, most: u64) -> Result<[Table; 2], ScenarioError> {
    let (topology, routing, _) = bounds::network(scenario)?;
    Workload::new(&scenario.traffic, &topology, &routing, scenario.seed, scenario.duration)?;
    let plan = Plan::new(&scenario.traffic, topology.hosts, scenario.seed);
    let count = plan.count().min(most);
    let mut needed = vec![0u32; count as usize];
    let mut starts = vec![0u64; count as usize];
    let mut edges: [Vec<u64>; 4] = Default::default();
    plan.roots(|first, time| {
        for flow in plan.group(first).filter(|&flow| flow < count) {
            starts[flow as usize] = time.as_ps();
        }
    });
    let events = [Event::Received, Event::Acknowledged, Event::Started];
    for (awaited, event) in (0..count).flat_map(|flow| events.map(|event| (flow, event))) {
        plan.dependents(awaited, event, |edge| {
            for flow in plan.group(edge.waiter).filter(|&flow| flow < count) {
                needed[flow as usize] = plan.waits(edge.waiter).needed;
                starts[flow as usize] = edge.earliest.as_ps();
                let row = [flow, awaited, event as u64, edge.delay.as_ps()];
                edges.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            }
        });
    }
    let [waiters, awaited, events, delays] = edges;
    let edges = vec![
        ("flow", Column::U64(waiters)),
        ("awaited", Column::U64(awaited)),
        ("event", Column::U64(events)),
        ("delay_ps", Column::U64(delays)),
    ];
    let flows = flows(&plan, count, starts, needed);
    Ok([flows, Table { name: "edges", columns: edges }])
}

fn flows(plan: &Plan, count: u64, starts: Vec<u64>, needed: Vec<u32>) -> Table {
    let flow = |number| plan.flow(number);
    let step = |number| plan.step(number);
    let u32s = |of: &dyn Fn(u64) -> u32| Column::U32((0..count).map(of).collect());
    let columns = vec![
        ("flow", Column::U64((0..count).collect())),
        ("src", u32s(&|number| flow(number).0.source)),
        ("dst", u32s(&|number| flow(number).0.destination)),
        ("size_bytes", Column::U64((0..count).map(|number| flow(number).0.size).collect())),
        ("label", u32s(&|number| flow(number).1.into())),
        ("class", u32s(&|number| flow(number).2.into())),
        ("iteration", u32s(&|number| step(number).iteration)),
        ("step", u32s(&|number| step(number).step)),
        ("rank", u32s(&|number| step(number).rank)),
        ("start_ps", Column::U64(starts)),
        ("needed", Column::U32(needed)),
    ];
    Table { name: "flows", columns }
}
