//! Plans: both directions of every dependency agree, and every collective computes what it says, in whatever
//! order its messages arrive.

use std::collections::HashMap;

use penstock_units::{BitRate, Bytes, Problems};
use proptest::prelude::*;

use super::*;
use crate::topology::InnerLinks;
use crate::workload::listed::{Awaited, Listed};
use crate::workload::{Collective, OnOff, Operation, PauseConfig, Rpc, SizeConfig};

fn collective(operation: Operation, chunks: u32, peers: u32, iterations: u32) -> Collective {
    Collective {
        label: "job".to_owned(),
        class: 0,
        operation,
        ranks: vec![],
        bytes: Bytes::new(100_003),
        chunks,
        peers,
        iterations,
        gap: Time::from_us(1),
        start: Time::ZERO,
    }
}

fn listed(flows: &[(u32, u32, u64, u64)], after: &[(u32, u32)]) -> Listed {
    let flow = |&(source, destination, size, start): &(u32, u32, u64, u64)| {
        (source, destination, Bytes::new(size), Time::from_ps(start))
    };
    Listed {
        label: "listed".to_owned(),
        class: 0,
        flows: flows.iter().map(flow).collect(),
        spread: Time::ZERO,
        lasts: vec![],
        after: after.iter().map(|&(one, other)| (one, other, Awaited::Natural)).collect(),
        delay: vec![],
        lag: vec![],
        needed: vec![],
        places: vec![],
        steps: vec![],
        destination_ports: vec![],
    }
}

fn rpc(fan_out: u32, outstanding: u32) -> Rpc {
    Rpc {
        label: "rpc".to_owned(),
        class: 0,
        clients: vec![0, 2],
        servers: vec![],
        outstanding,
        fan_out,
        request: SizeConfig::Fixed { size: Bytes::new(100) },
        response: SizeConfig::Exponential { mean: Bytes::new(1_000) },
        think: PauseConfig::Exponential { mean: Time::from_us(5) },
        start: Time::ZERO,
        stop: Time::from_ms(1),
    }
}

fn on_off() -> OnOff {
    OnOff {
        label: "bursts".to_owned(),
        class: 1,
        senders: vec![],
        receivers: vec![1, 2, 3],
        sizes: SizeConfig::Fixed { size: Bytes::new(100) },
        gaps: PauseConfig::Fixed { time: Time::from_us(5) },
        start: Time::ZERO,
        stop: Time::from_ms(1),
    }
}

/// What a run of a plan would do if messages arrived in an order that `draw` chooses. Calls `on_start` and
/// `on_end` with the flows; flows of more than `rounds` repetitions of a loop are left out.
fn walk(
    plan: &Plan,
    rounds: u32,
    mut draw: impl FnMut(usize) -> usize,
    on_start: &mut dyn FnMut(u64),
    on_receipt: &mut dyn FnMut(u64),
) -> Vec<u64> {
    let (mut come, mut started) = (HashMap::<u64, u32>::new(), vec![]);
    // Flows on their way, and flows that were received and not acknowledged.
    let mut running: Vec<(u64, Event)> = vec![];
    let mut begin = |first: u64, running: &mut Vec<(u64, Event)>| {
        for number in plan.group(first) {
            on_start(number);
            started.push(number);
            running.extend([(number, Event::Started), (number, Event::Received)]);
        }
    };
    plan.roots(|first, _| begin(first, &mut running));
    while !running.is_empty() {
        let (number, event) = running.swap_remove(draw(running.len()));
        if event == Event::Received {
            on_receipt(number);
            running.push((number, Event::Acknowledged));
        }
        plan.dependents(number, event, |edge| {
            let waits = plan.waits(edge.waiter);
            let count = come.entry(edge.waiter).or_default();
            *count += 1;
            assert!(*count <= waits.all, "flow {} has more edges than it says", edge.waiter);
            if *count == waits.needed && plan.step(edge.waiter).iteration < rounds {
                begin(edge.waiter, &mut running);
            }
        });
    }
    for (waiter, count) in come {
        let is_whole = plan.step(waiter).iteration >= rounds || plan.waits(waiter).all == count;
        assert!(is_whole, "flow {waiter} has fewer edges than it says");
    }
    started.sort_unstable();
    started
}

/// A generator of choices.
fn chooser(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |count| {
        state = penstock_engine::stream::mix(state);
        (state % count as u64) as usize
    }
}

#[test]
fn every_flow_of_a_mixed_plan_starts_once_with_a_number_of_its_own() {
    let flows = [(0, 1, 5, 0), (1, 2, 5, 0), (2, 3, 5, 7), (0, 3, 5, 9)];
    let traffic = [
        TrafficConfig::Rpc(rpc(2, 3)),
        TrafficConfig::Listed(listed(&flows, &[(1, 0), (2, 1), (2, 0)])),
        TrafficConfig::Collective(collective(Operation::TreeAllReduce, 3, 1, 2)),
        TrafficConfig::OnOff(on_off()),
        TrafficConfig::Collective(collective(Operation::AllToAll, 1, 2, 2)),
    ];
    let plan = Plan::new(&traffic, 5, 1);
    assert_eq!(plan.count(), 4 + 2 * 4 * 2 * 3 + 5 * 4 * 2);
    let started = walk(&plan, 3, chooser(1), &mut |_| (), &mut |_| ());
    let fixed: Vec<u64> = started.iter().copied().filter(|&one| one < FIRST_OF_LOOPS).collect();
    assert_eq!(fixed, (0..plan.count()).collect::<Vec<_>>());
    // Two clients with three slots of 2 x 2 flows, and five senders, three rounds each.
    let round = 2 * 3 * 4 + 5;
    let loops: Vec<u64> = started[fixed.len()..].to_vec();
    assert_eq!(loops, (FIRST_OF_LOOPS..FIRST_OF_LOOPS + 3 * round).collect::<Vec<_>>());
    assert_eq!(plan.previous(loops[round as usize]), Some(loops[0]));
    assert_eq!(plan.previous(loops[0]), None);
    assert_eq!(plan.flow(0).0, PlannedFlow { source: 0, destination: 1, size: 5 });
    assert_eq!(plan.flow(loops[round as usize - 1]).1, 3, "the label of the bursts");
}

/// Runs a collective among `ranks` and checks that no rank begins an iteration, or ends the last one, before
/// it has all that the operation promises. A set of ranks says whose data a part of a buffer is made of.
fn computes(entry: &Collective, ranks: u32, seed: u64) {
    let plan = Plan::new(&[TrafficConfig::Collective(entry.clone())], ranks, 1);
    let n = ranks as usize;
    let (all, chunks) = ((1u64 << n) - 1, entry.chunks as usize);
    let is_gather = entry.operation == Operation::AllGather;
    let initial = |rank: usize, part: usize| {
        if is_gather && part != rank { 0 } else { 1u64 << rank }
    };
    let buffers = || -> Vec<u64> {
        let place = |at: usize| (at / (n * chunks), at / chunks % n);
        (0..n * n * chunks).map(|at| initial(place(at).0, place(at).1)).collect()
    };
    let states = std::cell::RefCell::new(vec![buffers(); entry.iterations as usize]);
    let messages = std::cell::RefCell::new(HashMap::new());
    let parts = |number: u64| carried(entry.operation, n, plan.step(number));
    let chunk = |number: u64| (number % u64::from(entry.chunks)) as usize;
    let at = |rank: usize, part: usize, chunk: usize| (rank * n + part) * chunks + chunk;
    let is_complete = |state: &[u64], rank: usize| {
        let whole = |part: usize| {
            (0..chunks).all(|chunk| {
                let wanted = if is_gather { 1 << part } else { all };
                state[at(rank, part, chunk)] == wanted
            })
        };
        match entry.operation {
            Operation::ReduceScatter => whole((rank + 1) % n),
            _ => (0..n).all(whole),
        }
    };
    let started = walk(
        &plan,
        u32::MAX,
        chooser(seed),
        &mut |number| {
            let step = plan.step(number);
            let (states, rank) = (states.borrow(), step.rank as usize);
            if let Some(before) = step.iteration.checked_sub(1) {
                let state = &states[before as usize];
                assert!(is_complete(state, rank), "rank {rank} is early with {step:?}");
            }
            let state = &states[step.iteration as usize];
            let carried: Vec<u64> =
                parts(number).map(|part| state[at(rank, part, chunk(number))]).collect();
            messages.borrow_mut().insert(number, carried);
        },
        &mut |number| {
            let (step, (flow, ..)) = (plan.step(number), plan.flow(number));
            let state = &mut states.borrow_mut()[step.iteration as usize];
            for (part, data) in parts(number).zip(&messages.borrow()[&number]) {
                state[at(flow.destination as usize, part, chunk(number))] |= data;
            }
        },
    );
    assert_eq!(started, (0..plan.count()).collect::<Vec<_>>());
    for state in states.borrow().iter() {
        assert!((0..n).all(|rank| is_complete(state, rank)), "{entry:?}");
    }
}

/// The parts of the buffer that a message carries.
fn carried(operation: Operation, n: usize, step: Step) -> std::ops::Range<usize> {
    let (rank, number) = (step.rank as usize, step.step as usize);
    match operation {
        Operation::TreeAllReduce => 0..n,
        Operation::HalvingDoublingAllReduce => {
            let steps = n.ilog2() as usize;
            let distance = n >> (number.min(2 * steps - 1 - number) + 1);
            let of = if number < steps { rank ^ distance } else { rank };
            of / distance * distance..(of / distance + 1) * distance
        }
        _ => {
            let part = (rank + 2 * n - number) % n;
            part..part + 1
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn collectives_compute_what_they_say(
        kind in 0usize..5, ranks in 2u32..9, chunks in 1u32..4, iterations in 1u32..4, seed: u64,
    ) {
        let operation = [
            Operation::RingAllReduce, Operation::TreeAllReduce, Operation::HalvingDoublingAllReduce,
            Operation::AllGather, Operation::ReduceScatter,
        ][kind];
        let ranks = match operation {
            Operation::HalvingDoublingAllReduce => 1 << (ranks % 3 + 1),
            _ => ranks,
        };
        computes(&collective(operation, chunks, 1, iterations), ranks, seed);
    }

    #[test]
    fn sizes_add_up(ranks in 2u32..20, bytes in 10_000u64..20_000, chunks in 1u32..5) {
        let wanted = [
            (Operation::RingAllReduce, 2 * (ranks - 1)), (Operation::AllGather, ranks - 1),
            (Operation::ReduceScatter, ranks - 1),
        ];
        for (operation, steps) in wanted {
            let entry = Collective { bytes: Bytes::new(bytes), ..collective(operation, chunks, 1, 1) };
            let plan = Plan::new(&[TrafficConfig::Collective(entry.clone())], ranks, 1);
            let sum: u64 = (0..plan.count()).map(|flow| plan.flow(flow).0.size).sum();
            prop_assert_eq!(sum, u64::from(steps) * bytes, "{:?}", operation);
            let shares: f64 =
                entry.expected(ranks, None).shares.iter().map(|one| one.flows * one.size as f64).sum();
            prop_assert!((shares / sum as f64 - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn an_all_to_all_sends_to_so_many_at_a_time() {
    let plan =
        Plan::new(&[TrafficConfig::Collective(collective(Operation::AllToAll, 1, 3, 2))], 7, 1);
    let (most, running) = (std::cell::Cell::new(0), std::cell::RefCell::new([0i32; 7]));
    // A message counts until it is acknowledged, which `walk` does after its receipt.
    let received = std::cell::RefCell::new(vec![]);
    walk(
        &plan,
        9,
        chooser(4),
        &mut |number| {
            let rank = plan.step(number).rank as usize;
            running.borrow_mut()[rank] += 1;
            most.set(most.get().max(running.borrow()[rank]));
        },
        &mut |number| {
            received.borrow_mut().push(number);
            running.borrow_mut()[plan.step(number).rank as usize] -= 1;
        },
    );
    assert_eq!(most.get(), 3);
    assert_eq!(received.borrow().len(), 2 * 7 * 6);
}

#[test]
fn a_ring_of_many_ranks_is_not_held_in_memory() {
    let entry = Collective { iterations: 400, ..collective(Operation::RingAllReduce, 1, 1, 1) };
    let mut plan = Plan::default();
    let used = allocation_counter::measure(|| {
        plan = Plan::new(&[TrafficConfig::Collective(entry)], 1_024, 1);
    });
    assert!(used.bytes_max < 20_000, "{} B for 1,024 ranks", used.bytes_max);
    assert_eq!(plan.count(), 400 * 2 * 1_023 * 1_024);
    let last = plan.count() - 1;
    assert_eq!(plan.step(last), Step { iteration: 399, step: 2_045, rank: 1_023 });
    assert_eq!(plan.flow(last).0.destination, 0);
}

/// The refusals of a list, as text.
fn refused(listed: &Listed) -> String {
    let mut problems = Problems::below("traffic[0]");
    check_graph(listed, &mut problems);
    problems.to_string()
}

#[test]
fn lists_that_cannot_start_are_refused() {
    let flows = [(0, 1, 5, 0), (1, 2, 5, 0), (2, 3, 5, 0), (3, 0, 5, 0)];
    let cases = [
        (vec![(4, 0)], "traffic[0].after[0][0] is 4; there is no such flow; flows are rows 0 to 3"),
        (vec![(0, 9)], "traffic[0].after[0][1] is 9; there is no such flow"),
        (vec![(1, 1)], "traffic[0].after[0] is [1, 1]; a flow cannot wait for itself"),
        (vec![(1, 0), (1, 0)], "traffic[0].after[1] is [1, 0]; it is written above already"),
        (
            vec![(2, 3), (3, 1), (1, 0), (0, 1)],
            "traffic[0].after[3] is [0, 1]; these flows wait for each other, so 4 flows can never start: \
             0 after 1 after 0",
        ),
    ];
    for (after, expected) in cases {
        let found = refused(&listed(&flows, &after));
        assert!(found.starts_with(expected), "{found}");
    }
    let late = Listed { delay: vec![Time::from_us(1); 4], ..listed(&flows, &[(1, 0)]) };
    assert!(refused(&late).starts_with("traffic[0].delay[0] is 1 us; flow 0 waits for no other"));
    let many = Listed { needed: vec![0, 2, 0, 0], ..listed(&flows, &[(1, 0)]) };
    assert!(
        refused(&many).starts_with("traffic[0].needed[1] is 2; flow 1 is written to wait for 1")
    );
    // With one of two events enough, a cycle need not hold anybody up.
    let one = Listed { needed: vec![0, 1, 0, 0], ..listed(&flows, &[(1, 0), (1, 3), (3, 1)]) };
    assert_eq!(refused(&one), "");
}

#[test]
fn the_estimate_looks_at_all_ranks_of_a_large_ring() {
    // 1,024 ranks send 2,046 messages each, of which a part is looked at; one rank in eight sends to
    // another server.
    let servers = InnerLinks { hosts: 8, rate: BitRate::from_gbps(3_600), delay: Time::from_us(1) };
    let expected = collective(Operation::RingAllReduce, 1, 1, 1).expected(1_024, Some(servers));
    let crossing: f64 = expected.shares.iter().map(|one| one.flows).sum();
    assert!((crossing / (1_024.0 * 2_046.0 / 8.0) - 1.0).abs() < 0.01, "{crossing}");
    assert!((expected.inside / crossing - 7.0).abs() < 0.1);
}
