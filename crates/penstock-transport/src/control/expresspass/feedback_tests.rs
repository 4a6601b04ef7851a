//! The loop against the vectors of BASELINES 29: 10 Gb/s, a credit and its data in 1,297.6 ns, updates
//! every 20 credits. Here 20 credits take one round-trip time.

use alloc::vec::Vec;

use super::*;
use crate::control::expresspass::config::tests::config;

/// A credit and its data packet at 10 Gb/s: 1,622 B.
const SHORTEST_GAP: Time = Time::from_ps(1_297_600);

fn paper() -> CreditFeedback {
    CreditFeedback::Paper { target_loss: 0.1 }
}

fn feedback(kind: CreditFeedback) -> Feedback {
    let config = ExpressPassConfig { feedback: kind, ..config() };
    Feedback::new(&config, (Time::ZERO, 0), 0.5, SHORTEST_GAP)
}

/// Sends 20 credits at the current rate. The credits that `returns` names bring data back. Answers the
/// rate and the weight afterwards. Data take next to no time, except before the update.
fn interval(feedback: &mut Feedback, returns: impl Fn(u16) -> bool) -> (f64, f64) {
    let span = 20.0 * feedback.gap();
    let (start, first) = (feedback.updated_at, feedback.expected);
    feedback.rtt = span;
    for credit in (0..20).filter(|&credit| returns(credit)) {
        let at = start + Time::from_ps((span * f64::from(credit + 1) / 20.0).round() as u64);
        feedback.rtt = span - 1.0;
        feedback.on_data(at, first + credit, Time::from_ps(span as u64));
    }
    (feedback.rate, feedback.weight)
}

fn assert_near((rate, weight): (f64, f64), expected: (f64, f64)) {
    assert!((rate - expected.0).abs() < 6e-6, "rate {rate} instead of {}", expected.0);
    assert!((weight - expected.1).abs() < 1e-12, "weight {weight} instead of {}", expected.1);
}

#[test]
fn the_released_loop_gives_the_vectors() {
    let mut feedback = feedback(config().feedback);
    assert_near(interval(&mut feedback, |_| true), (0.53125, 0.0625));
    assert_near(interval(&mut feedback, |_| true), (0.58398, 0.1125));
    assert_near(interval(&mut feedback, |_| true), (0.65159, 0.1625));
    assert_near(interval(&mut feedback, |credit| credit % 2 == 1), (0.33998, 0.08125));
    assert_near(interval(&mut feedback, |_| true), (0.39361, 0.08125));
}

#[test]
fn the_papers_loop_goes_half_the_way_and_cuts_by_the_loss() {
    // w = 1/16, then (1/16 + 1/2) / 2; the largest rate is 1.1 with a target of 10 %.
    let mut feedback = feedback(paper());
    assert_near(interval(&mut feedback, |_| true), (0.0625 * 1.1 + 0.9375 * 0.5, 0.0625));
    let second = 0.28125 * 1.1 + 0.71875 * 0.5375;
    assert_near(interval(&mut feedback, |_| true), (second, 0.28125));
    let cut = second * 0.5 * 1.1;
    assert_near(interval(&mut feedback, |credit| credit % 2 == 1), (cut, 0.140625));
}

#[test]
fn a_loss_at_the_target_is_no_reason_to_cut() {
    // The target is 12.5 % of 1 - 0.5: 6.25 %. One lost credit of 20 is 5 %, two are 10 %.
    let mut light = feedback(config().feedback);
    assert_eq!(interval(&mut light, |credit| credit != 3).0, 0.53125);
    let mut heavy = feedback(config().feedback);
    let (rate, weight) = interval(&mut heavy, |credit| credit != 3 && credit != 9);
    assert_near((rate, weight), (0.5 * 0.9 * 1.0625, 0.03125));
    // The paper's target is 10 %: two of 20.
    let mut equal = feedback(paper());
    let (rate, _) = interval(&mut equal, |credit| credit != 3 && credit != 9);
    assert_near((rate, equal.weight), (0.0625 * 1.1 + 0.9375 * 0.5, 0.0625));
}

#[test]
fn the_weight_grows_to_the_largest_and_no_further() {
    let mut feedback = feedback(config().feedback);
    // From 0.0625 on by 0.05 each time, not with the first increase: ten increases reach 0.5125.
    let weights: Vec<f64> = (0..12).map(|_| interval(&mut feedback, |_| true).1).collect();
    assert!((weights[8] - 0.4625).abs() < 1e-12);
    assert_eq!(weights[9..], [0.5; 3]);
}

#[test]
fn the_rate_never_falls_below_a_credit_a_round_trip() {
    let mut feedback = feedback(paper());
    // In each round trip of 100 us, 99 of 100 credits are lost.
    for round in 1..=40 {
        feedback.on_data(Time::from_us(100) * round, feedback.expected + 99, Time::from_us(100));
    }
    assert_eq!((feedback.gap().round(), feedback.weight), (1e8, 0.01));
}

#[test]
fn where_a_round_trip_is_shorter_than_a_gap_the_rate_is_the_largest() {
    let mut feedback = feedback(paper());
    feedback.on_data(Time::from_us(1), 99, Time::from_us(1));
    assert_eq!(feedback.rate, 1.0);
}

#[test]
fn the_first_data_set_the_round_trip_and_the_others_a_fifth_of_it() {
    let mut feedback = feedback(config().feedback);
    feedback.on_data(Time::from_us(8), 0, Time::from_us(8));
    assert_eq!((feedback.rtt, feedback.rate), (8e6, 0.53125));
    feedback.on_data(Time::from_us(9), 1, Time::from_us(13));
    assert_eq!(feedback.rtt, 9e6);
    assert_eq!(feedback.returned, 1);
}

#[test]
fn numbers_wrap_and_data_of_old_credits_do_not_count() {
    let config = config();
    let mut feedback = Feedback::new(&config, (Time::ZERO, u16::MAX), 0.5, SHORTEST_GAP);
    feedback.rtt = 1e12;
    feedback.on_data(Time::from_us(1), u16::MAX - 5, Time::from_us(1));
    assert_eq!((feedback.returned, feedback.lost), (0, 0));
    feedback.on_data(Time::from_us(1), u16::MAX, Time::from_us(1));
    feedback.on_data(Time::from_us(1), 2, Time::from_us(1));
    assert_eq!((feedback.returned, feedback.lost, feedback.expected), (2, 2, 3));
}
