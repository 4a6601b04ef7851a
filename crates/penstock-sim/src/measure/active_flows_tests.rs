//! Hand-made cases, and random ones against a model that walks over all flows at every sample.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A packet of `flow` comes to `link` at `ns` and stays.
fn enter(flows: &mut ActiveFlows, ns: u64, link: u32, flow: u32) {
    flows.come(link, flow);
    flows.stay(Time::from_ns(ns));
}

#[test]
fn a_packet_that_leaves_as_it_comes_leaves_a_link_without_active_flows() {
    let mut flows = ActiveFlows::new(2);
    flows.come(1, 7);
    flows.leave(Time::from_ns(10), 1, 7);
    flows.stay(Time::from_ns(10));
    flows.sample();
    assert_eq!(flows.packets_table(&[4, 6]).columns[0].1, Column::U32(vec![]));
    let table = flows.into_table(Time::from_ns(30), &[4, 6]);
    assert_eq!(table.columns[0].1, Column::U32(vec![6]));
    assert_eq!(table.columns[1].1, Column::U32(vec![0]));
    assert_eq!(table.columns[2].1, Column::F64(vec![30.0]));
}

#[test]
fn a_sample_counts_the_packets_of_each_flow_and_link() {
    let mut flows = ActiveFlows::new(2);
    for (link, flow) in [(0, 7), (0, 7), (0, 9), (1, 7)] {
        enter(&mut flows, 10, link, flow);
    }
    flows.sample();
    flows.leave(Time::from_ns(20), 0, 7);
    flows.sample();
    let table = flows.packets_table(&[4, 6]);
    assert_eq!(table.columns[0].1, Column::U32(vec![4, 4, 6]));
    assert_eq!(table.columns[1].1, Column::U32(vec![1, 2, 1]));
    assert_eq!(table.columns[2].1, Column::U64(vec![3, 1, 2]));
}

#[test]
fn time_is_weighted_by_the_number_of_flows() {
    let mut flows = ActiveFlows::new(1);
    enter(&mut flows, 10, 0, 7);
    enter(&mut flows, 20, 0, 7);
    enter(&mut flows, 30, 0, 9);
    flows.leave(Time::from_ns(40), 0, 7);
    flows.leave(Time::from_ns(60), 0, 7);
    flows.leave(Time::from_ns(70), 0, 9);
    let table = flows.into_table(Time::from_ns(100), &[3]);
    assert_eq!(table.columns[1].1, Column::U32(vec![0, 1, 2]));
    assert_eq!(table.columns[2].1, Column::F64(vec![40.0, 30.0, 30.0]));
}

const LINKS: u32 = 3;

/// The same counts, made with a walk over all flows at every sample.
#[derive(Default)]
struct Model {
    /// By (link, flow).
    packets: BTreeMap<(u32, u32), u32>,
    /// By (link, packets).
    snapshots: BTreeMap<(u32, u32), u64>,
    /// By (link, active flows).
    time: BTreeMap<(u32, u32), Time>,
    /// By link: when the number of active flows last changed. Only links with traffic.
    since: BTreeMap<u32, Time>,
}

impl Model {
    fn active(&self, link: u32) -> u32 {
        self.packets.range((link, 0)..=(link, u32::MAX)).count() as u32
    }

    /// Adds `change` to the packets of the flow.
    fn change(&mut self, now: Time, link: u32, flow: u32, change: i32) {
        let before = self.active(link);
        let packets = self.packets.get(&(link, flow)).copied().unwrap_or(0);
        match packets.checked_add_signed(change).expect("packets of the flow wait") {
            0 => self.packets.remove(&(link, flow)),
            packets => self.packets.insert((link, flow), packets),
        };
        if self.active(link) != before {
            self.weigh(now, link, before);
        }
    }

    fn weigh(&mut self, now: Time, link: u32, active: u32) {
        let since = self.since.insert(link, now).unwrap_or(Time::ZERO);
        *self.time.entry((link, active)).or_insert(Time::ZERO) += now - since;
    }

    fn sample(&mut self) {
        for (&(link, _), &packets) in &self.packets {
            *self.snapshots.entry((link, packets)).or_insert(0) += 1;
        }
    }

    fn packets_table(&self) -> [Column; 3] {
        let keys = || self.snapshots.keys();
        [
            Column::U32(keys().map(|key| key.0).collect()),
            Column::U32(keys().map(|key| key.1).collect()),
            Column::U64(self.snapshots.values().copied().collect()),
        ]
    }

    fn table(mut self, now: Time) -> [Column; 3] {
        for link in self.since.keys().copied().collect::<Vec<_>>() {
            self.weigh(now, link, self.active(link));
        }
        self.time.retain(|_, time| *time > Time::ZERO);
        [
            Column::U32(self.time.keys().map(|key| key.0).collect()),
            Column::U32(self.time.keys().map(|key| key.1).collect()),
            Column::F64(self.time.values().map(|time| time.as_ns_f64()).collect()),
        ]
    }
}

fn columns(table: Table) -> [Column; 3] {
    let columns: Vec<Column> = table.columns.into_iter().map(|(_, column)| column).collect();
    columns.try_into().expect("three columns")
}

/// What happens to a link. The hashes of flows are few, and half of them want the same slot.
#[derive(Clone, Copy, Debug)]
enum Step {
    Enter {
        link: u32,
        flow: u32,
        /// A packet of the flow leaves at the same moment.
        leaves: bool,
    },
    /// A packet of one of the flows with packets.
    Leave(prop::sample::Index),
    Sample,
    Wait,
}

fn step() -> impl Strategy<Value = Step> {
    let near = (0u32..20).prop_map(|low| 0xffff_ff00 | low);
    let far = (0u32..20).prop_map(|high| high << 27);
    prop_oneof![
        4 => (0..LINKS, prop_oneof![near, far], any::<bool>())
            .prop_map(|(link, flow, leaves)| Step::Enter { link, flow, leaves }),
        4 => any::<prop::sample::Index>().prop_map(Step::Leave),
        1 => Just(Step::Sample),
        1 => Just(Step::Wait),
    ]
}

proptest! {
    #[test]
    fn lazy_counts_equal_those_of_a_walk_over_all_flows(
        steps in prop::collection::vec(step(), 0..400),
    ) {
        let (mut flows, mut model) = (ActiveFlows::new(LINKS as usize), Model::default());
        let mut now = Time::ZERO;
        for step in steps {
            match step {
                Step::Enter { link, flow, leaves } => {
                    flows.come(link, flow);
                    model.change(now, link, flow, 1);
                    if leaves {
                        flows.leave(now, link, flow);
                        model.change(now, link, flow, -1);
                    }
                    flows.stay(now);
                }
                Step::Leave(choice) if !model.packets.is_empty() => {
                    let all: Vec<(u32, u32)> = model.packets.keys().copied().collect();
                    let &(link, flow) = choice.get(&all);
                    flows.leave(now, link, flow);
                    model.change(now, link, flow, -1);
                }
                Step::Sample => {
                    flows.sample();
                    model.sample();
                }
                Step::Leave(_) | Step::Wait => now += Time::from_ns(1),
            }
            for link in 0..LINKS {
                prop_assert_eq!(flows.active(link), model.active(link));
            }
        }
        prop_assert_eq!(columns(flows.packets_table(&[0, 1, 2])), model.packets_table());
        prop_assert_eq!(columns(flows.into_table(now, &[0, 1, 2])), model.table(now));
    }
}
