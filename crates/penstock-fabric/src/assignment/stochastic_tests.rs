//! Hashed queues: the same for all packets of a flow, spread evenly, different from switch to switch.

use crate::fixture::refusal::{DRR, SFQ, refused};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use serde_json::json;

use super::*;
use crate::fixture::hosts;

fn policy(queues: u32, classes: u32, salt: u32) -> Stochastic {
    let facts = SwitchFacts { salt, ..hosts(2) };
    Stochastic::new(&StochasticConfig { queues, classes }, &facts)
}

fn queue(policy: &Stochastic, flow_hash: u32, class: u8) -> u16 {
    policy.queue_of(&Packet { flow_hash, class, ..Packet::default() })
}

/// Hashes like the simulator's, spread over 32 bits.
fn hashes() -> impl Iterator<Item = u32> {
    (0u32..).map(|number| number.wrapping_mul(0x9e37_79b1))
}

#[test]
fn a_flow_has_one_queue_and_never_the_control_queue() {
    let policy = policy(32, 1, 3);
    for hash in hashes().take(1_000) {
        let first = queue(&policy, hash, 0);
        assert!((1..=31).contains(&first));
        assert_eq!(queue(&policy, hash, 0), first);
    }
}

#[test]
fn flows_occupy_as_many_queues_as_balls_fill_bins() {
    // n balls in Q bins occupy Q·(1 − (1 − 1/Q)^n): BASELINES 18.2 has 20.4 for 32 and 32.
    let occupied = |salt| {
        let policy = policy(33, 1, salt);
        hashes().take(32).map(|hash| queue(&policy, hash, 0)).collect::<BTreeSet<_>>().len()
    };
    let mean = (0..2_000).map(occupied).sum::<usize>() as f64 / 2_000.0;
    assert!((mean - 20.4).abs() < 0.3, "{mean}");
}

#[test]
fn two_flows_that_collide_at_one_switch_seldom_collide_at_the_next() {
    let (here, there) = (policy(32, 1, 1), policy(32, 1, 2));
    let flows: Vec<u32> = hashes().take(400).collect();
    let (mut collisions, mut again) = (0, 0);
    for (place, &first) in flows.iter().enumerate() {
        for &second in &flows[place + 1..] {
            if queue(&here, first, 0) == queue(&here, second, 0) {
                collisions += 1;
                again += u32::from(queue(&there, first, 0) == queue(&there, second, 0));
            }
        }
    }
    let share = f64::from(again) / f64::from(collisions);
    assert!((share - 1.0 / 31.0).abs() < 0.02, "{again} of {collisions}");
}

#[test]
fn classes_have_queues_of_their_own() {
    let policy = policy(9, 2, 5);
    for class in 0..2u8 {
        let queues: BTreeSet<u16> =
            hashes().take(500).map(|hash| queue(&policy, hash, class)).collect();
        let first = 1 + 4 * u16::from(class);
        assert_eq!(queues, (first..first + 4).collect());
    }
}

#[test]
fn every_class_needs_a_data_queue() {
    let refused = |queues, classes| {
        let classes = ("/assignment/classes", json!(classes));
        refused(&[SFQ, DRR], &[("/assignment/queues", json!(queues)), classes])
    };
    assert!(refused(9, 8).is_empty());
    let expected = "assignment.classes is 8; of 8 queues 7 are for ordinary data, fewer than the classes; \
                    use fewer classes, or more queues";
    assert_eq!(refused(8, 8), [expected]);
    assert_eq!(refused(1, 8), ["assignment.queues is 1; write 2 to 4096"]);
    assert_eq!(refused(4_097, 8), ["assignment.queues is 4097; write 2 to 4096"]);
    assert_eq!(refused(8, 9), ["assignment.classes is 9; write 1 to 8"]);
}
