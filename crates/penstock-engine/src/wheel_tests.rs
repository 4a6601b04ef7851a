//! The wheel against an ordered map, and the order of ties.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[test]
fn ties_leave_in_the_order_of_their_sources() {
    let mut wheel = Wheel::new(4, 9);
    for source in [2, 0, 3, 1] {
        wheel.schedule(source, Time::from_ns(7));
    }
    let order: Vec<_> = core::iter::from_fn(|| wheel.pop()).map(|(_, source)| source).collect();
    assert_eq!(order, [0, 1, 2, 3]);
}

#[test]
fn ties_leave_in_the_order_of_scheduling_on_request() {
    let mut wheel = Wheel::new(5, 9).in_order_of_scheduling();
    let early = wheel.take_rank();
    for source in [2, 0, 3] {
        wheel.schedule(source, Time::from_ns(7));
    }
    wheel.schedule_ranked(4, Time::from_ns(7), early);
    wheel.schedule(1, Time::from_ns(6));
    let mut order: Vec<_> = core::iter::from_fn(|| wheel.pop()).map(|(_, source)| source).collect();
    assert_eq!(order, [1, 4, 2, 0, 3]);
    // The same for the slot whose events are leaving.
    for source in [3, 1, 2] {
        wheel.schedule(source, Time::from_ns(7));
    }
    order = core::iter::from_fn(|| wheel.pop()).map(|(_, source)| source).collect();
    assert_eq!(order, [3, 1, 2]);
}

#[test]
fn thousands_of_ties_in_any_order_leave_in_theirs() {
    let mut wheel = Wheel::new(5_000, 9);
    for round in 1..4 {
        let time = Time::from_ns(7 * round);
        // 1,777 and 5,000 have no common divisor, so the leaps reach each source once.
        for step in 0..5_000 {
            wheel.schedule(step * 1_777 % 5_000, time);
        }
        wheel.cancel(4_321);
        let left: Vec<_> = core::iter::from_fn(|| wheel.pop()).collect();
        let expected = (0..5_000).filter(|&source| source != 4_321).map(|source| (time, source));
        assert_eq!(left, expected.collect::<Vec<_>>());
    }
}

#[test]
fn the_next_source_is_foretold_within_a_slot() {
    let mut wheel = Wheel::new(4, 9);
    for (source, ps) in [(2, 100), (0, 40), (1, 40), (3, 600)] {
        wheel.schedule(source, Time::from_ps(ps));
    }
    let mut seen = Vec::new();
    while let Some((_, source)) = wheel.pop() {
        seen.push((source, wheel.likely_next()));
    }
    assert_eq!(seen, [(0, Some(1)), (1, Some(2)), (2, None), (3, None)]);
}

#[test]
fn an_event_can_schedule_one_at_the_same_picosecond() {
    let mut wheel = Wheel::new(3, 9);
    wheel.schedule(0, Time::from_ps(10));
    assert_eq!(wheel.pop(), Some((Time::from_ps(10), 0)));
    wheel.schedule(2, Time::from_ps(10));
    wheel.schedule(1, Time::from_ps(11));
    assert_eq!(wheel.pop(), Some((Time::from_ps(10), 2)));
    assert_eq!(wheel.pop(), Some((Time::from_ps(11), 1)));
    assert_eq!(wheel.pop(), None);
}

#[test]
fn the_wheel_reaches_the_end_of_time() {
    for shift in [0, 9, 20] {
        let mut wheel = Wheel::new(64, shift);
        let times: Vec<u64> = (0..64).map(|bit| (1 << bit) - u64::from(bit % 2 == 1)).collect();
        // The first leaves before the others come, so that the cursor does not stand at 0.
        wheel.schedule(0, Time::from_ps(times[0]));
        assert_eq!(wheel.pop(), Some((Time::from_ps(times[0]), 0)));
        for source in (1..64).rev() {
            wheel.schedule(source, Time::from_ps(times[source as usize]));
        }
        let left: Vec<_> = core::iter::from_fn(|| wheel.pop()).collect();
        let expected = (1..64).map(|source| (Time::from_ps(times[source as usize]), source));
        assert_eq!(left, expected.collect::<Vec<_>>(), "slots of 2^{shift} ps");
    }
}

#[derive(Clone, Debug)]
enum Step {
    Schedule(u32, u64),
    Earlier(u32, u64),
    Cancel(u32),
    Pop,
}

fn step() -> impl Strategy<Value = Step> {
    let ahead = prop_oneof![0u64..2_000, 0u64..10_000_000, 0u64..10_000_000_000_000];
    prop_oneof![
        4 => (0u32..40, ahead.clone()).prop_map(|(s, t)| Step::Schedule(s, t)),
        1 => (0u32..40, ahead).prop_map(|(s, t)| Step::Earlier(s, t)),
        1 => (0u32..40).prop_map(Step::Cancel),
        4 => Just(Step::Pop),
    ]
}

proptest! {
    #[test]
    fn agrees_with_an_ordered_map(steps in proptest::collection::vec(step(), 1..400), shift in 0u32..14) {
        // The last ten sources have ranks, in the reverse order of their numbers.
        let mut wheel = Wheel::new(30, shift);
        wheel.grow(40);
        let rank = |source: u32| if source < 30 { 0 } else { 100 - u64::from(source) };
        (30..40).for_each(|source| wheel.set_rank(source, rank(source)));
        let mut model: BTreeMap<(u64, u64, u32), ()> = BTreeMap::new();
        for step in steps {
            let first = model.first_key_value().map(|((time, ..), ())| *time);
            let bound = wheel.earliest().map(|time| time.as_ps());
            prop_assert_eq!(bound.is_some(), first.is_some());
            prop_assert!(bound <= first, "{:?} {:?}", bound, first);
            match step {
                Step::Schedule(source, ahead) if !wheel.is_pending(source) => {
                    let time = wheel.now().as_ps() + ahead;
                    wheel.schedule(source, Time::from_ps(time));
                    model.insert((time, rank(source), source), ());
                }
                Step::Earlier(source, ahead) => {
                    let time = wheel.now().as_ps() + ahead;
                    let old = wheel.due(source).as_ps();
                    wheel.schedule_earlier(source, Time::from_ps(time));
                    if time < old {
                        model.remove(&(old, rank(source), source));
                        model.insert((time, rank(source), source), ());
                    }
                }
                Step::Schedule(..) => {}
                Step::Cancel(source) => {
                    model.remove(&(wheel.due(source).as_ps(), rank(source), source));
                    wheel.cancel(source);
                }
                Step::Pop => {
                    let first = model.pop_first();
                    let expected = first.map(|((time, _, source), ())| (Time::from_ps(time), source));
                    prop_assert_eq!(wheel.pop(), expected);
                }
            }
        }
        while let Some(((time, _, source), ())) = model.pop_first() {
            prop_assert_eq!(wheel.pop(), Some((Time::from_ps(time), source)));
        }
        prop_assert_eq!(wheel.pop(), None);
    }
}
