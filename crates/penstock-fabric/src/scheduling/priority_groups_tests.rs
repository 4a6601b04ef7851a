//! Two groups of two queues, queues 1 and 2 and queues 3 and 4, with a period of 10 us.

use penstock_units::BitRate;

use super::*;
use crate::fixture::refusal::{GROUPS, ROUNDS, SFQ, refused};
use serde_json::json;

fn groups(active: &[u32]) -> PriorityGroups {
    let config = PriorityGroupsConfig { period: Time::from_us(10) };
    let mut groups = PriorityGroups::new(
        &config,
        &Egress { node: 0, port: 0, rate: BitRate::from_gbps(100), packet: 1_048 },
    );
    active.iter().for_each(|&number| groups.fill(number));
    groups
}

impl PriorityGroups {
    /// Queue `number` has packets.
    fn fill(&mut self, number: u32) {
        self.activate(&mut [], number, &PacketPool::new(false));
    }

    /// Queue `number` has no packets any more.
    fn empty(&mut self, number: u32) {
        self.deactivate(&mut [], number);
    }

    /// The queue that is served at `us`, the round, and the first round without a queue.
    fn step(&mut self, us: u64) -> (u32, u64, u64) {
        let queues = &mut [DataQueue::default(); 5];
        let number = self.select(Time::from_us(us), queues, &PacketPool::new(false));
        (number, self.round(), self.rounds_end(4))
    }
}

#[test]
fn a_group_is_served_in_order_until_it_is_empty() {
    let mut groups = groups(&[2, 3, 4]);
    assert_eq!(groups.step(0), (2, 1, 4));
    groups.fill(1); // an earlier round than the current one: strict priority serves it first
    assert_eq!(groups.step(0), (1, 1, 4));
    groups.empty(1);
    groups.empty(2);
    // The groups change places. Rounds 2 and 3 are above; rounds 4 and 5 have queues 1 and 2.
    assert_eq!(groups.step(1), (3, 2, 6));
    groups.empty(3);
    assert_eq!(groups.step(1), (4, 3, 6));
    groups.fill(1);
    groups.empty(4);
    assert_eq!(groups.step(2), (1, 4, 8));
}

#[test]
fn after_the_period_the_other_group_goes_first() {
    let mut groups = groups(&[1, 2, 3]);
    assert_eq!(groups.step(9), (1, 0, 4));
    // The packets left of rounds 0 and 1 wait for rounds 4 and 5.
    assert_eq!(groups.step(10), (3, 2, 6));
    groups.empty(3);
    assert_eq!(groups.step(12), (1, 4, 8));
    // The period counts from the last change.
    assert_eq!(groups.step(21), (1, 4, 8));
    // Queues 3 and 4 are empty, so the groups change back. The rounds are two groups later.
    assert_eq!(groups.step(22), (1, 8, 12));
}

#[test]
fn it_serves_rounds_in_two_groups_of_one_size() {
    let expected = "scheduling.kind is priority-groups; the stochastic assignment knows no rounds; use \
                    assignment \"rounds\"";
    assert_eq!(refused(&[SFQ, GROUPS], &[]), [expected]);
    let queues = |queues| refused(&[ROUNDS, GROUPS], &[("/assignment/queues", json!(queues))]);
    assert!(queues(33).is_empty());
    let expected = "assignment.queues is 32; 31 data queues do not make two groups of one size; use an odd \
                    number: one is the control queue";
    assert_eq!(queues(32), [expected]);
    assert_eq!(queues(0), ["assignment.queues is 0; write 3 to 4096"]);
}

#[test]
fn a_half_goes_first_for_a_while() {
    let expected = ["scheduling.period is 0 ps; write 1 ps or more"];
    assert_eq!(refused(&[ROUNDS, GROUPS], &[("/scheduling/period", json!(0))]), expected);
}
