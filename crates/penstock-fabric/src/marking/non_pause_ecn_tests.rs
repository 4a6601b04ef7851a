//! The states of a port in PCN's figure 4, and the transitions of figure 7, through the switch.

use alloc::vec::Vec;

use penstock_packet::epochs::label;
use penstock_packet::{PacketFlags, Signal};
use penstock_units::Time;

use super::NonPauseEcnConfig;
use crate::assignment::class::ByClassConfig;
use crate::assignment::dynamic::DynamicConfig;
use crate::fixture::{Bench, Flow, bfc, dynamic, flow, hop_rtts, hosts, plain};
use crate::scheduling::strict;
use crate::{AssignmentConfig, MarkingConfig, SchedulingConfig, SwitchConfig};

fn bench() -> Bench {
    Bench::new(
        &SwitchConfig { marking: MarkingConfig::NonPauseEcn(NonPauseEcnConfig {}), ..plain() },
        &hosts(2),
    )
}

fn admit(bench: &mut Bench, packets: usize) {
    for _ in 0..packets {
        bench.admit(flow(1), 1_000);
    }
}

/// Whether each of the next packets leaves marked.
fn marks(bench: &mut Bench, packets: usize) -> Vec<bool> {
    let depart = |_| bench.depart(0).unwrap().0.flags.contains(PacketFlags::MARKED);
    (0..packets).map(depart).collect()
}

#[test]
fn real_congestion_marks_every_packet_that_leaves_others_behind() {
    let mut bench = bench();
    admit(&mut bench, 2);
    for _ in 0..20 {
        admit(&mut bench, 1);
        assert_eq!(marks(&mut bench, 1), [true]);
    }
    assert_eq!(marks(&mut bench, 2), [true, false]);
}

#[test]
fn no_congestion_marks_nothing() {
    let mut bench = bench();
    for _ in 0..20 {
        admit(&mut bench, 1);
        assert_eq!(marks(&mut bench, 1), [false]);
    }
}

#[test]
fn packets_that_waited_through_a_pause_leave_unmarked_and_later_ones_are_judged_again() {
    let mut bench = bench();
    bench.signal(0, Signal::PauseClass(0));
    admit(&mut bench, 3);
    assert!(bench.depart(0).is_none());
    bench.signal(0, Signal::ResumeClass(0)); // PN = 3
    admit(&mut bench, 3);
    assert_eq!(marks(&mut bench, 6), [false, false, false, true, true, false]);
}

#[test]
fn a_second_pause_sets_the_counter_anew() {
    let mut bench = bench();
    bench.signal(0, Signal::PauseClass(0));
    admit(&mut bench, 3);
    bench.signal(0, Signal::ResumeClass(0)); // PN = 3
    assert_eq!(marks(&mut bench, 1), [false]); // PN = 2
    bench.signal(0, Signal::PauseClass(0));
    admit(&mut bench, 2);
    bench.signal(0, Signal::ResumeClass(0)); // PN = 4
    admit(&mut bench, 2);
    assert_eq!(marks(&mut bench, 6), [false, false, false, false, true, false]);
}

#[test]
fn a_resume_without_a_pause_and_one_without_packets_change_nothing() {
    let mut bench = bench();
    admit(&mut bench, 2);
    bench.signal(0, Signal::ResumeClass(0));
    bench.signal(0, Signal::ResumeQueue(1));
    assert!(!bench.switch.release(bench.now, 0), "no timed pause of all data was there");
    assert_eq!(marks(&mut bench, 2), [true, false]);
    bench.signal(0, Signal::PauseClass(0));
    bench.signal(0, Signal::ResumeClass(0));
    admit(&mut bench, 2);
    assert_eq!(marks(&mut bench, 2), [true, false]);
}

#[test]
fn each_class_has_its_own_counter() {
    let config = SwitchConfig {
        assignment: AssignmentConfig::Class(ByClassConfig { classes: 2 }),
        scheduling: SchedulingConfig::Strict(strict::StrictConfig {}),
        marking: MarkingConfig::NonPauseEcn(NonPauseEcnConfig {}),
        ..plain()
    };
    let mut bench = Bench::new(&config, &hosts(2));
    for class in [0, 0, 1, 1] {
        bench.admit(Flow { class, ..flow(1) }, 1_000);
    }
    bench.signal(0, Signal::PauseClass(1));
    bench.signal(0, Signal::ResumeClass(1)); // PN = 2 for class 1
    assert_eq!(marks(&mut bench, 4), [true, false, false, false]);
    for class in [1, 1, 0, 0] {
        bench.signal(0, Signal::PauseClass(class));
        bench.admit(Flow { class, ..flow(1) }, 1_000);
    }
    for class in [1, 0] {
        bench.signal(0, Signal::ResumeClass(class)); // PN = 2 for each
    }
    assert_eq!(marks(&mut bench, 4), [false; 4]);
}

#[test]
fn the_pause_of_a_queue_counts_like_that_of_a_class() {
    let mut bench = bench();
    bench.signal(0, Signal::QueueBitmap { epoch: 0, queues: 1 << 1 });
    admit(&mut bench, 2);
    bench.signal(0, Signal::QueueBitmap { epoch: 0, queues: 0 }); // PN = 2
    admit(&mut bench, 2);
    assert_eq!(marks(&mut bench, 4), [false, false, true, false]);
}

#[test]
fn the_pause_of_an_epoch_counts_for_its_queue() {
    let assignment = DynamicConfig { epoch_bits: 1, ..dynamic(2) };
    let marking = MarkingConfig::NonPauseEcn(NonPauseEcnConfig {});
    let config = SwitchConfig { marking, ..bfc(assignment, hop_rtts(1.0)) };
    let mut bench = Bench::new(&config, &hosts(2));
    admit(&mut bench, 2); // the flow begins epoch 1 of queue 1
    bench.signal(0, Signal::PauseQueue(label(1, 1)));
    assert!(bench.depart(0).is_none());
    bench.signal(0, Signal::ResumeQueue(label(1, 1))); // PN = 2
    admit(&mut bench, 2);
    assert_eq!(marks(&mut bench, 4), [false, false, true, false]);
}

#[test]
fn the_end_of_a_timed_pause_counts_like_a_resume() {
    let mut bench = bench();
    bench.signal(0, Signal::PauseTime(1_000));
    admit(&mut bench, 3);
    assert!(bench.depart(0).is_none());
    bench.now = Time::from_us(1);
    bench.switch.release(bench.now, 0); // PN = 3
    admit(&mut bench, 3);
    assert_eq!(marks(&mut bench, 6), [false, false, false, true, true, false]);
}

#[test]
fn the_end_of_a_timed_pause_of_a_class_counts_like_a_resume() {
    let mut bench = bench();
    bench.signal(0, Signal::PauseClassFor { class: 0, nanoseconds: 1_000 });
    admit(&mut bench, 3);
    bench.now = Time::from_us(1);
    assert_eq!(bench.switch.lapse(bench.now, &bench.pool, 0), Some(0)); // PN = 3
    admit(&mut bench, 3);
    assert_eq!(marks(&mut bench, 6), [false, false, false, true, true, false]);
}

#[test]
fn a_class_that_stays_paused_is_not_resumed_by_the_end_of_a_timed_pause() {
    let mut bench = bench();
    bench.signal(0, Signal::PauseTime(1_000));
    bench.signal(0, Signal::PauseClass(0));
    admit(&mut bench, 2);
    bench.now = Time::from_us(1);
    bench.switch.release(bench.now, 0);
    admit(&mut bench, 2);
    bench.signal(0, Signal::ResumeClass(0)); // PN = 4
    admit(&mut bench, 2);
    assert_eq!(marks(&mut bench, 6), [false, false, false, false, true, false]);
}

#[test]
fn a_mark_of_an_earlier_switch_stays() {
    let mut bench = bench();
    bench.arrive_with(flow(1), 1_000, PacketFlags::MARKED);
    assert_eq!(marks(&mut bench, 1), [true]);
}
