//! AFQ's figures 1, 3 and 4, stepped by hand.

use crate::config::Surroundings;
use crate::fixture::refusal::{
    BFC, GROUPS, PFC, POOL, ROTATING, ROUNDS, SCANNING, STRICT, refused, refused_in,
};
use alloc::vec;
use alloc::vec::Vec;
use serde_json::json;

use penstock_packet::{PacketEvent, PacketFlags};
use penstock_units::Time;

use super::*;
use crate::admission::static_port::StaticConfig;
use crate::fixture::{Bench, flow, hosts, ideal_fair, per_flow, plain};
use crate::marking::rounds::RoundMarkingConfig;
use crate::scheduling::priority_groups::PriorityGroupsConfig;
use crate::scheduling::rotating_strict;
use crate::scheduling::scanning_drr::ScanningDrrConfig;
use crate::switch::Arrival;
use crate::{AdmissionConfig, AssignmentConfig, MarkingConfig, SchedulingConfig, SwitchConfig};

const RED: u32 = 1;
const GREEN: u32 = 2;
const YELLOW: u32 = 3;
const BLUE: u32 = 4;

/// Four data queues, 1 to 4, and 1,000 B a round.
fn rounds(bids: BidStore) -> RoundsConfig {
    RoundsConfig {
        queues: 5,
        bytes_per_round: Bytes::new(1_000),
        rows: 2,
        columns: 1_024,
        bids,
        round: RoundSource::Scheduler,
        horizon: Horizon::Queues,
    }
}

/// AFQ on a switch with deficit round robin (sec. 4).
fn afq_by_drr() -> SwitchConfig {
    let assignment = RoundsConfig { round: RoundSource::Occupancy, ..rounds(BidStore::Sketch) };
    let quantum = Bytes::new(1 << 20);
    switch(assignment, SchedulingConfig::ScanningDrr(ScanningDrrConfig { quantum }))
}

/// AFQ on a switch with two groups of two queues, switched every 10 us (sec. 4).
fn afq_by_groups() -> SwitchConfig {
    let config = PriorityGroupsConfig { period: Time::from_us(10) };
    switch(rounds(BidStore::Sketch), SchedulingConfig::PriorityGroups(config))
}

fn switch(assignment: RoundsConfig, scheduling: SchedulingConfig) -> SwitchConfig {
    let assignment = AssignmentConfig::Rounds(assignment);
    SwitchConfig { assignment, scheduling, ..plain() }
}

fn afq() -> SwitchConfig {
    let assignment = rounds(BidStore::Sketch);
    switch(assignment, SchedulingConfig::RotatingStrict(rotating_strict::RotatingStrictConfig {}))
}

/// The packets A to G of Fig. 4, then H and I, as (flow, bytes). The comments give their bids.
const FIGURE_4: [(u32, u16); 9] = [
    (RED, 300),     // A 300
    (GREEN, 400),   // B 400
    (RED, 300),     // C 600
    (YELLOW, 900),  // D 900
    (RED, 750),     // E 1,350
    (GREEN, 1000),  // F 1,400
    (YELLOW, 1200), // G 2,100
    (BLUE, 500),    // H 500
    (BLUE, 800),    // I 1,300
];

/// Offers the packets of [`FIGURE_4`] and returns the order in which they leave, as letters.
fn figure_4(config: &SwitchConfig) -> (Vec<u16>, Vec<char>) {
    let mut bench = Bench::new(config, &hosts(2));
    let queues = FIGURE_4.map(|(number, bytes)| {
        bench.admit(flow(number), bytes);
        bench.recorder.0.last().unwrap().packet.queue
    });
    let letter = |offset: u64| char::from(b'A' + offset as u8);
    let order = core::iter::from_fn(|| Some(letter(bench.depart(0)?.0.offset))).collect();
    (queues.to_vec(), order)
}

/// Fig. 1: packets leave in the order of their departure rounds; sizes and rounds in units of 100 B.
#[test]
fn figure_1_bit_by_bit_round_robin() {
    let mut bench = Bench::new(&per_flow(ideal_fair()), &hosts(2));
    // A (green) departs in round 4, B (blue) in 3, C (red) in 7; D (blue, 2) in 3 + 2 = 5, between
    // A and C; E (green, 4) in 4 + 4 = 8, at the end.
    for (number, size) in [(GREEN, 4), (BLUE, 3), (RED, 7), (BLUE, 2), (GREEN, 4)] {
        bench.admit(flow(number), 100 * size);
    }
    let order: Vec<u64> = core::iter::from_fn(|| Some(bench.depart(0)?.0.offset)).collect();
    assert_eq!(order, [1, 0, 3, 2, 4]); // B A D C E
}

#[test]
fn figure_4_packets_join_the_queue_of_their_round() {
    let (queues, order) = figure_4(&afq());
    assert_eq!(queues, [1, 1, 1, 1, 2, 2, 3, 1, 2]);
    assert_eq!(order, ['A', 'B', 'C', 'D', 'H', 'E', 'F', 'I', 'G']);
    // Ideal fair queueing sends H before C and D, and I before E and F.
    let (_, ideal) = figure_4(&per_flow(ideal_fair()));
    assert_eq!(ideal, ['A', 'B', 'H', 'C', 'D', 'I', 'E', 'F', 'G']);
}

/// Both emulations of sec. 4 act as rotating strict priority does, while the groups have time.
#[test]
fn figure_4_by_emulation() {
    assert_eq!(figure_4(&afq_by_drr()), figure_4(&afq()));
    assert_eq!(figure_4(&afq_by_groups()), figure_4(&afq()));
}

/// The queue that a packet of `bytes` of flow `number` joins; `None` if it is dropped.
fn queue_for(bench: &mut Bench, number: u32, bytes: u16) -> Option<u16> {
    let arrival = bench.arrive(flow(number), bytes);
    (arrival != Arrival::Dropped).then(|| bench.recorder.0.last().unwrap().packet.queue)
}

#[test]
fn an_empty_queue_tells_that_its_round_is_over() {
    let mut bench = Bench::new(&afq_by_drr(), &hosts(2));
    // The bids are 1,000 and 2,000, in rounds 1 and 2. No packet was given to round 0.
    assert_eq!(queue_for(&mut bench, RED, 1_000), Some(2));
    assert_eq!(queue_for(&mut bench, RED, 1_000), Some(3));
    // Queue 1 is empty, and round 0 is before the last round. So the estimate is round 1, and blue
    // starts there.
    assert_eq!(queue_for(&mut bench, BLUE, 400), Some(2)); // 1,400
    assert_eq!(bench.depart(0).unwrap().0.flow_hash, RED);
    assert_eq!(bench.depart(0).unwrap().0.flow_hash, BLUE);
    // Queue 2 is empty, so the estimate is round 2, which has queue 3. Green bids 2,300, blue 2,000 +
    // 700 + 700.
    assert_eq!(queue_for(&mut bench, GREEN, 300), Some(3));
    assert_eq!(queue_for(&mut bench, BLUE, 700), Some(3));
    assert_eq!(queue_for(&mut bench, BLUE, 700), Some(4));
    // Rounds 2 to 5 have queues. Round 6 has none yet.
    assert_eq!(queue_for(&mut bench, BLUE, 1_000), Some(1)); // 4,400
    assert_eq!(queue_for(&mut bench, BLUE, 1_000), Some(2)); // 5,400
    assert_eq!(queue_for(&mut bench, BLUE, 1_000), None); // 6,400
    assert_eq!(bench.drain(0), [RED, GREEN, BLUE, BLUE, BLUE, BLUE]);
    // All queues are empty, so the estimate is round 6, behind the last. Rotating priority would stay
    // at 5.
    assert_eq!(queue_for(&mut bench, GREEN, 300), Some(3));
    assert_eq!(bench.recorder.0.last().unwrap().packet.time, 0);
}

#[test]
fn a_queue_that_the_scheduler_has_not_passed_is_given_to_no_later_round() {
    let mut bench = Bench::new(&afq_by_drr(), &hosts(2));
    // The packets go to rounds 1, 2 and 3. Round 0 is skipped, but nobody knows whether its queue was
    // passed.
    for queue in [2, 3, 4] {
        assert_eq!(queue_for(&mut bench, RED, 1_000), Some(queue));
    }
    assert_eq!(queue_for(&mut bench, RED, 1_000), None); // round 4, which would go first
    bench.depart(0);
    assert_eq!(queue_for(&mut bench, RED, 1_000), Some(1)); // round 1 is over: so is round 0
    assert_eq!(queue_for(&mut bench, RED, 1_000), Some(2));
    // The same again from round 6 on, which is skipped. That its queue had packets in round 2 says nothing.
    bench.drain(0);
    for queue in [Some(4), Some(1), Some(2), None] {
        assert_eq!(queue_for(&mut bench, RED, 1_000), queue);
    }
}

#[test]
fn groups_that_change_places_take_rounds_with_them() {
    let mut bench = Bench::new(&afq_by_groups(), &hosts(2));
    // Rounds 0 to 3 have queues 1 to 4. The first two queues are the upper group.
    for (bytes, queue) in [(600, Some(1)), (900, Some(2)), (900, Some(3)), (900, Some(4))] {
        assert_eq!(queue_for(&mut bench, RED, bytes), queue); // 600, 1,500, 2,400, 3,300
    }
    assert_eq!(queue_for(&mut bench, RED, 900), None); // 4,200: round 4 is beyond both groups
    let left = |bench: &mut Bench| bench.depart(0).unwrap().0.offset;
    assert_eq!(left(&mut bench), 0);
    // After 10 us the lower group takes over. Rounds 2 and 3 are above, rounds 4 and 5 have queues 1
    // and 2.
    bench.after(Time::from_us(10));
    assert_eq!(left(&mut bench), 2);
    assert_eq!(queue_for(&mut bench, RED, 900), Some(1)); // 4,200
    assert_eq!(queue_for(&mut bench, BLUE, 300), Some(3)); // 2,300: at least where round 2 begins
    // Blue's round comes before red's round 3. The packet that was left of round 1 waits for round 5.
    assert_eq!([(); 4].map(|()| left(&mut bench)), [6, 3, 5, 1]);
}

#[test]
fn a_perfect_table_gives_the_same_queues() {
    for bids in [BidStore::PerFlow, BidStore::Audited] {
        let table = rounds(bids);
        let config = switch(
            table,
            SchedulingConfig::RotatingStrict(rotating_strict::RotatingStrictConfig {}),
        );
        assert_eq!(figure_4(&config), figure_4(&afq()));
    }
}

#[test]
fn a_packet_beyond_the_last_round_is_dropped_and_leaves_no_trace() {
    let mut bench = Bench::new(&afq(), &hosts(2));
    // Bids of 1,000, 2,000 and 3,000 fall in rounds 1, 2 and 3. 4,000 falls in round 4, which would use
    // the queue of round 0.
    let queues = [(); 3].map(|()| bench.queue_of(flow(RED)));
    assert_eq!(queues, [2, 3, 4]);
    let used = bench.switch.accounts().total;
    assert_eq!(bench.arrive(flow(RED), 1_000), Arrival::Dropped);
    assert_eq!(bench.recorder.0.last().unwrap().event, PacketEvent::Drop);
    let counters = bench.switch.port(0).counters;
    assert_eq!((counters.drops, counters.refusals, counters.enqueued), (1, 1, 3));
    let accounts = bench.switch.accounts();
    assert_eq!((accounts.total, accounts.peak()), (used, used));
    // Another flow may use the rounds that red has used up.
    assert_eq!(bench.queue_of(flow(BLUE)), 2);
    // Round 1 is served, so round 4 gets the queue of round 0. The bytes of the refused packet do not
    // count for any flow.
    bench.depart(0);
    assert_eq!(bench.queue_of(flow(RED)), 1);
    assert_eq!(bench.drain(0), [BLUE, RED, RED, RED]);
}

/// AFQ as `horizon` has it, on ports of 4,000 B.
fn afq_with_little_memory(horizon: Horizon) -> SwitchConfig {
    let assignment = RoundsConfig { horizon, ..rounds(BidStore::Sketch) };
    let scheduling = SchedulingConfig::RotatingStrict(rotating_strict::RotatingStrictConfig {});
    let memory = StaticConfig { per_port: Bytes::new(4_000), other_tiers: vec![] };
    SwitchConfig { admission: AdmissionConfig::Static(memory), ..switch(assignment, scheduling) }
}

#[test]
fn a_flow_has_at_most_as_much_queued_as_is_free() {
    let mut bench = Bench::new(&afq_with_little_memory(Horizon::FreeMemory), &hosts(2));
    assert_eq!(queue_for(&mut bench, RED, 1_000), Some(2)); // 1,000 of 4,000 free
    assert_eq!(queue_for(&mut bench, RED, 1_000), Some(3)); // 2,000 of 3,000
    assert_eq!(queue_for(&mut bench, RED, 1_000), None); // 3,000 of 2,000
    assert_eq!(bench.switch.port(0).counters.refusals, 1);
    assert_eq!(queue_for(&mut bench, BLUE, 1_000), Some(2)); // 1,000 of 2,000
    assert_eq!(queue_for(&mut bench, BLUE, 900), None); // 1,900 of 1,000
    assert_eq!(queue_for(&mut bench, GREEN, 1_000), Some(2)); // 1,000 of 1,000: the last
    assert_eq!(queue_for(&mut bench, YELLOW, 1), None); // no room at all
    assert_eq!(bench.switch.accounts().total, 4_000);
    // In round 1, red has 2,000 - 1,000 queued. The bytes of its dropped packet do not count.
    assert_eq!([(); 3].map(|()| bench.depart(0).unwrap().0.flow_hash), [RED, BLUE, GREEN]);
    assert_eq!(queue_for(&mut bench, RED, 1_000), Some(4)); // 2,000 of 3,000
    assert_eq!(queue_for(&mut bench, RED, 100), None); // 2,100 of 2,000
}

#[test]
fn by_the_paper_one_flow_takes_what_rounds_have_queues_for() {
    let mut bench = Bench::new(&afq_with_little_memory(Horizon::Queues), &hosts(2));
    let queues = [RED, RED, RED, BLUE].map(|number| queue_for(&mut bench, number, 1_000));
    assert_eq!(queues, [Some(2), Some(3), Some(4), Some(2)]);
    assert_eq!(queue_for(&mut bench, GREEN, 1_000), None); // no room, though it has nothing queued
}

#[test]
fn flows_divide_the_memory_of_a_port() {
    let horizon = |admission| {
        refused(&[ROUNDS, ROTATING, admission], &[("/assignment/horizon", json!("free-memory"))])
    };
    let own = r#"{"kind": "static", "per_port": 512000, "other_tiers": []}"#;
    assert!(horizon(("admission", own)).is_empty());
    let expected = "assignment.horizon is free-memory; the shared admission gives a port no memory of its \
                    own; use \"queues\", or admission \"static\"";
    assert_eq!(horizon(POOL), [expected]);
}

#[test]
fn a_flow_that_returns_gets_no_credit_for_its_silence() {
    let mut bench = Bench::new(&afq(), &hosts(2));
    bench.admit(flow(RED), 400);
    for _ in 0..3 {
        bench.admit(flow(GREEN), 900); // rounds 0, 1 and 2
    }
    assert_eq!(bench.drain(0), [RED, GREEN, GREEN, GREEN]);
    // The port is idle and its round stays 2. Red's bid of 400 is lifted to 2,000.
    assert_eq!(bench.switch.port(0).round(), 2);
    bench.admit(flow(RED), 900);
    assert_eq!(bench.recorder.0.last().unwrap().packet.queue, 3);
    bench.admit(flow(RED), 900); // 3,800
    assert_eq!(bench.recorder.0.last().unwrap().packet.queue, 4);
}

#[test]
fn a_collision_delays_a_flow_and_is_counted() {
    let one_cell = RoundsConfig { rows: 1, columns: 1, ..rounds(BidStore::Audited) };
    let mut bench = Bench::new(
        &switch(
            one_cell,
            SchedulingConfig::RotatingStrict(rotating_strict::RotatingStrictConfig {}),
        ),
        &hosts(2),
    );
    bench.admit(flow(RED), 400); // bid 400
    bench.admit(flow(BLUE), 400); // 800 for 400: the same round
    assert_eq!(bench.switch.port(0).counters.misestimates, 0);
    bench.admit(flow(GREEN), 400); // 1,200 for 400: a round late
    assert_eq!(bench.switch.port(0).counters.misestimates, 1);
    bench.admit(flow(GREEN), 400); // 1,600 by both
    assert_eq!(bench.switch.port(0).counters.misestimates, 1);
    assert_eq!(bench.recorder.0.last().unwrap().packet.queue, 2);
}

#[test]
fn a_packet_is_marked_when_its_flow_is_more_rounds_ahead_than_allowed() {
    let marking = MarkingConfig::Rounds(RoundMarkingConfig { rounds: 2 });
    let mut bench = Bench::new(&SwitchConfig { marking, ..afq() }, &hosts(2));
    for _ in 0..3 {
        bench.admit(flow(RED), 1_000); // 1, 2 and 3 rounds ahead
    }
    bench.admit(flow(BLUE), 1_000); // 1 round ahead, whatever the others have
    let leaves = || bench.depart(0).map(|(packet, _)| packet);
    let marked: Vec<_> = core::iter::from_fn(leaves)
        .map(|packet| (packet.flow_hash, packet.flags.contains(PacketFlags::MARKED)))
        .collect();
    assert_eq!(marked, vec![(RED, false), (BLUE, false), (RED, false), (RED, true)]);
}

#[test]
fn a_packet_fits_into_the_rounds() {
    let refused = |bytes| {
        let surroundings =
            Surroundings { packet: Some(Bytes::new(1_048)), ..Surroundings::default() };
        refused_in(
            &surroundings,
            &[ROUNDS, ROTATING],
            &[("/assignment/bytes_per_round", json!(bytes))],
        )
    };
    assert!(refused(33).is_empty());
    let expected = "assignment.bytes_per_round is 32 B; a packet of 1.048 kB does not fit into 32 \
                    rounds; make \
                    it larger (AFQ: one packet)";
    assert_eq!(refused(32), [expected]);
    assert_eq!(refused(0), ["assignment.bytes_per_round is 0 B; write 1 B to 1 MiB"]);
}

#[test]
fn a_scheduler_serves_the_rounds_and_both_agree_who_tells_them() {
    let refused =
        |scheduling, round| refused(&[ROUNDS, scheduling], &[("/assignment/round", json!(round))]);
    for (scheduling, right, wrong, why) in [
        (
            ROTATING,
            "scheduler",
            "occupancy",
            "rotating-strict knows its round, and stays in it while the port is idle",
        ),
        (
            GROUPS,
            "scheduler",
            "occupancy",
            "priority-groups knows its round, and stays in it while the port is idle",
        ),
        (SCANNING, "occupancy", "scheduler", "scanning-drr does not tell which round it serves"),
    ] {
        assert!(refused(scheduling, right).is_empty());
        let expected = format!("assignment.round is {wrong}; {why}; use \"{right}\"");
        assert_eq!(refused(scheduling, wrong), [expected]);
    }
    let expected = "scheduling.kind is strict; it does not serve rounds in their order; use scheduling \
                    \"rotating-strict\", \"scanning-drr\" or \"priority-groups\"";
    assert_eq!(refused(STRICT, "scheduler"), [expected]);
}

#[test]
fn a_round_can_end() {
    assert!(refused(&[ROUNDS, ROTATING, PFC], &[]).is_empty());
    let expected = "backpressure.kind is bfc; a round whose queue is paused cannot end; use backpressure \
                    \"none\" or \"pfc\"";
    assert_eq!(refused(&[ROUNDS, ROTATING, BFC], &[]), [expected]);
}
