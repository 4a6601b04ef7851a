//! Flows one by one, some of which wait for others: traces of applications, triggers of htsim.

use std::collections::BTreeMap;

use penstock_units::{Problems, Time};

use super::{Edge, Event, Facts, Pattern, PlannedFlow, Step, Waits};
use crate::workload::listed::{Awaited, Listed};

/// Listed flows and who waits for whom.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// By row: the flow.
    flows: Vec<PlannedFlow>,
    /// By row: when it starts, or may start at the earliest.
    starts: Vec<Time>,
    /// By row: how long after its events it starts.
    delays: Vec<Time>,
    /// By row: for what it waits.
    waits: Vec<Waits>,
    /// By row: where its dependents begin in `dependents`.
    first: Vec<u32>,
    /// Who waits, for which event, and how much later that takes effect, before the waiting flow's delay.
    dependents: Vec<(u32, Event, Time)>,
    /// Of a job, by row: where the flow stands.
    places: Vec<(u32, u32, u32)>,
    /// Of a job, by iteration and step: how many flows it has, and their bytes.
    steps: BTreeMap<(u32, u32), (u64, u64)>,
}

/// The event that row `waiting` of `listed` awaits of row `awaited`.
fn event(listed: &Listed, waiting: u32, awaited: u32, named: Awaited) -> Event {
    match named {
        Awaited::Received => Event::Received,
        Awaited::Acknowledged => Event::Acknowledged,
        Awaited::Started => Event::Started,
        Awaited::Natural => {
            let source = listed.flows[waiting as usize].0;
            let destination = listed.flows[awaited as usize].1;
            if source == destination { Event::Received } else { Event::Acknowledged }
        }
    }
}

/// By row of `listed`: for what it waits.
fn waits(listed: &Listed) -> Vec<Waits> {
    let mut waits = vec![Waits::all(0); listed.flows.len()];
    for &(waiting, ..) in &listed.after {
        waits[waiting as usize].all += 1;
    }
    for (row, one) in waits.iter_mut().enumerate() {
        let needed = listed.needed.get(row).copied().unwrap_or(0);
        one.needed = if needed == 0 { one.all } else { needed };
    }
    waits
}

impl Graph {
    /// The flows of a sound list.
    pub(crate) fn new(listed: &Listed) -> Self {
        let rows = listed.flows.len();
        let mut first = vec![0u32; rows + 1];
        for &(_, awaited, _) in &listed.after {
            first[awaited as usize + 1] += 1;
        }
        for row in 0..rows {
            first[row + 1] += first[row];
        }
        let mut next = first.clone();
        let mut dependents = vec![(0, Event::Received, Time::ZERO); listed.after.len()];
        for (row, &(waiting, awaited, named)) in listed.after.iter().enumerate() {
            let place = &mut next[awaited as usize];
            let lag = listed.lag.get(row).copied().unwrap_or_default();
            dependents[*place as usize] = (waiting, event(listed, waiting, awaited, named), lag);
            *place += 1;
        }
        let flow = |&(source, destination, size, _): &(u32, u32, _, _)| PlannedFlow {
            source,
            destination,
            size: penstock_units::Bytes::get(size),
        };
        let delay = |row| listed.delay.get(row).copied().unwrap_or_default();
        Graph {
            flows: listed.flows.iter().map(flow).collect(),
            starts: listed.flows.iter().map(|flow| flow.3).collect(),
            delays: (0..rows).map(delay).collect(),
            waits: waits(listed),
            first,
            dependents,
            places: listed.places.clone(),
            steps: steps(listed),
        }
    }

    /// Who waits for something of the flow in `row`.
    fn waiting(&self, row: usize) -> &[(u32, Event, Time)] {
        &self.dependents[self.first[row] as usize..self.first[row + 1] as usize]
    }

    /// How many iterations the job has.
    pub(super) fn iterations(&self) -> u32 {
        let mut found = 0;
        let mut next = Some(0);
        while let Some(least) = next {
            let Some((&(iteration, _), _)) = self.steps.range((least, 0)..).next() else { break };
            found += 1;
            next = iteration.checked_add(1);
        }
        found
    }

    /// What is known of an iteration of the job, or of one of its steps.
    pub(super) fn facts(&self, iteration: u32, step: Option<u32>) -> Facts {
        let steps = (iteration, step.unwrap_or(0))..=(iteration, step.unwrap_or(u32::MAX));
        let parts = self.steps.range(steps).map(|(_, &part)| part);
        let (flows, bytes) =
            parts.fold((0, 0), |(flows, bytes), part| (flows + part.0, bytes + part.1));
        Facts { flows, bytes, bus_factor: None }
    }
}

/// By iteration and step of a job: how many flows it has, and their bytes.
fn steps(listed: &Listed) -> BTreeMap<(u32, u32), (u64, u64)> {
    let mut steps = BTreeMap::new();
    for (&(iteration, step, _), flow) in listed.places.iter().zip(&listed.flows) {
        let (flows, bytes) = steps.entry((iteration, step)).or_insert((0, 0u64));
        *flows += 1;
        *bytes = bytes.saturating_add(flow.2.get());
    }
    steps
}

impl Pattern for Graph {
    fn count(&self) -> u64 {
        self.flows.len() as u64
    }

    fn roots(&self, each: &mut dyn FnMut(u64, Time)) {
        for (row, (waits, &start)) in (0..).zip(self.waits.iter().zip(&self.starts)) {
            if waits.all == 0 {
                each(row, start);
            }
        }
    }

    fn flow(&self, flow: u64) -> PlannedFlow {
        self.flows[flow as usize]
    }

    fn step(&self, flow: u64) -> Step {
        match self.places.get(flow as usize) {
            Some(&(iteration, step, rank)) => Step { iteration, step, rank },
            None => Step { iteration: 0, step: 0, rank: self.flows[flow as usize].source },
        }
    }

    fn waits(&self, first: u64) -> Waits {
        self.waits[first as usize]
    }

    fn dependents(&self, flow: u64, event: Event, each: &mut dyn FnMut(Edge)) {
        for &(waiting, awaited, lag) in self.waiting(flow as usize) {
            if awaited == event {
                let delay = self.delays[waiting as usize].saturating_add(lag);
                let earliest = self.starts[waiting as usize];
                each(Edge { waiter: waiting.into(), delay, earliest });
            }
        }
    }

    fn is_receipt_awaited(&self, flow: u64) -> bool {
        self.is_job()
            || self.waiting(flow as usize).iter().any(|&(_, event, _)| event == Event::Received)
    }

    fn is_job(&self) -> bool {
        !self.places.is_empty()
    }
}

/// Checks who waits for whom, where the lists themselves are sound: rows that exist, no event twice, and that
/// every flow can start.
pub(crate) fn check_graph(listed: &Listed, problems: &mut Problems) {
    let lists = ["flows", "after", "lag", "delay", "needed", "places"];
    if !listed.is_dependent() || !lists.iter().all(|field| problems.has_sound(field)) {
        return;
    }
    let rows = listed.flows.len();
    let mut seen = std::collections::HashSet::with_capacity(listed.after.len());
    for (place, &(waiting, awaited, named)) in listed.after.iter().enumerate() {
        if problems.is_full() {
            return;
        }
        for (column, row) in [(0, waiting), (1, awaited)] {
            let remedy = format!("there is no such flow; flows are rows 0 to {}", rows - 1);
            let field = format!("after[{place}][{column}]");
            problems.unless((row as usize) < rows, &field, row, remedy);
        }
        if waiting.max(awaited) as usize >= rows {
            continue;
        }
        let field = format!("after[{place}]");
        let value = format!("[{waiting}, {awaited}]");
        let remedy = "a flow cannot wait for itself; name another one";
        problems.unless(waiting != awaited, &field, &value, remedy);
        let is_new = seen.insert((waiting, awaited, event(listed, waiting, awaited, named)));
        problems.unless(is_new, &field, &value, "it is written above already; write it once");
    }
    if problems.has_sound("after") {
        check_counts(listed, problems);
    }
    if ["after", "needed"].iter().all(|field| problems.has_sound(field)) {
        check_reach(listed, problems);
    }
}

/// Checks that no flow waits for more events than there are, and that only flows that wait have a delay.
fn check_counts(listed: &Listed, problems: &mut Problems) {
    for (row, waits) in waits(listed).iter().enumerate() {
        let remedy = format!("flow {row} is written to wait for {}; need at most these", waits.all);
        let holds = waits.needed <= waits.all;
        problems.unless(holds, &format!("needed[{row}]"), waits.needed, remedy);
        let delay = listed.delay.get(row).copied().unwrap_or_default();
        let remedy = format!("flow {row} waits for no other; change its start, or say after what");
        let holds = delay == Time::ZERO || waits.all > 0;
        problems.unless(holds, &format!("delay[{row}]"), delay, remedy);
        if problems.is_full() {
            return;
        }
    }
}

/// Refuses flows that can never start: those that wait for each other, and all behind them.
fn check_reach(listed: &Listed, problems: &mut Problems) {
    let graph = Graph::new(listed);
    let mut missing: Vec<u32> = graph.waits.iter().map(|waits| waits.needed).collect();
    let mut ready: Vec<usize> = (0..missing.len()).filter(|&row| missing[row] == 0).collect();
    let mut started = ready.len();
    while let Some(row) = ready.pop() {
        for &(waiting, ..) in graph.waiting(row) {
            let left = &mut missing[waiting as usize];
            if *left == 1 {
                ready.push(waiting as usize);
                started += 1;
            }
            *left = left.saturating_sub(1);
        }
    }
    if started == missing.len() {
        return;
    }
    let cycle = cycle(listed, &missing);
    let place = listed.after.iter().position(|&(waiting, ..)| waiting as usize == cycle[0]);
    let words: Vec<String> = cycle.iter().chain(&cycle[..1]).map(usize::to_string).collect();
    let remedy = format!(
        "these flows wait for each other, so {} flows can never start: {}; take one of these out",
        missing.len() - started,
        words.join(" after ")
    );
    let field = format!("after[{}]", place.unwrap_or_default());
    problems.unless(false, &field, format!("[{}, {}]", cycle[0], cycle[1 % cycle.len()]), remedy);
}

/// Rows that wait for each other, each for the next, among those with `missing` events.
fn cycle(listed: &Listed, missing: &[u32]) -> Vec<usize> {
    let mut awaited = vec![usize::MAX; missing.len()];
    for &(waiting, on, _) in &listed.after {
        let (waiting, on) = (waiting as usize, on as usize);
        if missing[waiting] > 0 && missing[on] > 0 && awaited[waiting] == usize::MAX {
            awaited[waiting] = on;
        }
    }
    let mut row = missing.iter().position(|&left| left > 0).unwrap_or_default();
    let mut met = vec![false; missing.len()];
    while !std::mem::replace(&mut met[row], true) {
        row = awaited[row];
    }
    let mut cycle = vec![row];
    while awaited[*cycle.last().unwrap_or(&row)] != row {
        cycle.push(awaited[*cycle.last().unwrap_or(&row)]);
    }
    cycle
}
