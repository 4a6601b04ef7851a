//! DCQCN as NVIDIA's firmware does it, stepped by hand.

use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::fixture;

const JSON: &str = concat!(
    r#"{"kind":"dcqcn-mellanox","gain":0.00390625,"alpha_interval":1000000,"#,
    r#""decrease_interval":4000000,"increase_interval":300000000,"fast_recovery_rounds":1,"#,
    r#""additive_increase":20000000,"hyper_increase":200000000,"minimum_rate":1000000000,"#,
    r#""clamps_target":false,"window":"none"}"#
);

/// An acknowledgement arrives at `now`; `is_marked` tells whether its data packet was marked.
fn acknowledge(flow: &mut DcqcnMellanox, now: Time, is_marked: bool) {
    let ack = Acknowledgement { is_marked, ..Acknowledgement::plain(0) };
    flow.on_acknowledgement(now, &ack, &FlowView::default());
}

/// The defaults, without a window.
fn config() -> DcqcnMellanoxConfig {
    DcqcnMellanoxConfig {
        gain: 1.0 / 256.0,
        alpha_interval: Time::from_us(1),
        decrease_interval: Time::from_us(4),
        increase_interval: Time::from_us(300),
        fast_recovery_rounds: 1,
        additive_increase: BitRate::from_mbps(20),
        hyper_increase: BitRate::from_mbps(200),
        minimum_rate: BitRate::from_mbps(1_000),
        clamps_target: false,
        window: RateWindow::None,
    }
}

fn flow(config: &DcqcnMellanoxConfig) -> DcqcnMellanox {
    DcqcnMellanox::new(config, &fixture::flow(&fixture::path()))
}

/// When the first mark of every test arrives. This mark starts the checks.
const MARK: Time = Time::from_us(10);
const CHECK: Time = Time::from_ns(14_001);

/// The times until `end` at which a driver would wake the flow, and the rate after each (Mb/s).
fn serve(flow: &mut DcqcnMellanox, end: Time) -> Vec<(u64, u64)> {
    let mut served = vec![];
    while flow.deadline() <= end {
        let now = flow.deadline();
        flow.on_deadline(now);
        served.push((now.as_ps() / 1_000, flow.rate.get() / 1_000_000));
    }
    served
}

#[test]
fn a_flow_that_was_never_marked_has_no_timers() {
    let mut flow = flow(&config());
    acknowledge(&mut flow, MARK, false);
    assert_eq!((flow.deadline(), flow.rate(), flow.window()), (Time::NEVER, None, u64::MAX));
}

#[test]
fn the_first_mark_cuts_nothing_before_the_first_check() {
    let mut flow = flow(&config());
    acknowledge(&mut flow, MARK, true);
    assert_eq!((flow.alpha.get(), flow.rate(), flow.deadline()), (1.0, None, CHECK));
    flow.on_deadline(CHECK);
    let alpha = (255.0f64 / 256.0).powi(4); // the ticks at 11, 12, 13 and 14 us saw no mark
    assert!((flow.alpha.get() - alpha).abs() < 1e-15);
    assert_eq!(flow.rate.get(), (1e11 * (1.0 - flow.alpha.get() / 2.0)) as u64);
    assert_eq!(flow.deadline(), CHECK + Time::from_us(300));
}

#[test]
fn a_mark_raises_alpha_at_the_next_tick_and_at_no_later_one() {
    let mut flow = flow(&config());
    acknowledge(&mut flow, MARK, true);
    acknowledge(&mut flow, Time::from_ns(14_500), true);
    flow.on_deadline(Time::from_ns(18_001));
    let kept = 255.0f64 / 256.0;
    let alpha = (kept.powi(5) + 1.0 / 256.0) * kept.powi(3); // the tick at 15 us saw the mark
    assert!((flow.alpha.get() - alpha).abs() < 1e-15);
    acknowledge(&mut flow, Time::from_ns(25_500), true);
    assert!((flow.alpha.get() - alpha * kept.powi(7)).abs() < 1e-15);
}

#[test]
fn one_cut_from_line_rate_recovers_by_half_then_additively_then_in_large_steps() {
    let mut flow = flow(&DcqcnMellanoxConfig { alpha_interval: Time::from_ms(90), ..config() });
    acknowledge(&mut flow, MARK, true);
    let served = serve(&mut flow, Time::from_us(2_200));
    let rates: Vec<u64> = served.iter().map(|served| served.1).collect();
    assert_eq!(rates, [50_000, 75_000, 87_500, 93_750, 96_875, 98_437, 99_218, 99_609]);
    assert_eq!((served[1].0, served[2].0), (314_001, 614_001));
}

#[test]
fn the_target_grows_by_the_additive_and_then_by_the_hyper_increase() {
    let config = DcqcnMellanoxConfig { clamps_target: true, ..config() };
    let mut flow = flow(&config);
    flow.rate.set(50_000_000_000);
    acknowledge(&mut flow, MARK, true);
    flow.on_deadline(CHECK);
    let cut = flow.rate.get();
    assert_eq!(flow.target, 50_000_000_000);
    let recovered = cut / 2 + 25_000_000_000;
    let added = recovered / 2 + 25_010_000_000;
    let leapt = added / 2 + 25_110_000_000;
    for (periods, rate) in [(1, recovered), (2, added), (3, leapt)] {
        flow.on_deadline(CHECK + Time::from_us(300) * periods);
        assert_eq!(flow.rate.get(), rate);
    }
}

#[test]
fn a_mark_for_every_check_halves_the_rate_until_alpha_has_fallen_or_the_floor_is_reached() {
    let mut flow = flow(&DcqcnMellanoxConfig { alpha_interval: Time::from_ms(90), ..config() });
    acknowledge(&mut flow, MARK, true);
    let mut check = CHECK;
    for rate in [50_000, 25_000, 12_500, 6_250, 3_125, 1_562, 1_000, 1_000] {
        acknowledge(&mut flow, check - Time::from_ns(900), true);
        acknowledge(&mut flow, check - Time::from_ns(800), true);
        acknowledge(&mut flow, check, false);
        assert_eq!(flow.rate.get() / 1_000_000, rate);
        check += Time::from_us(4);
    }
}

#[test]
fn the_target_stays_until_an_increase_unless_it_is_clamped() {
    for (clamps_target, expected) in [(false, 100_000_000_000), (true, 50_000_000_000)] {
        let alpha_interval = Time::from_ms(90);
        let config = DcqcnMellanoxConfig { clamps_target, alpha_interval, ..config() };
        let mut flow = flow(&config);
        acknowledge(&mut flow, MARK, true);
        acknowledge(&mut flow, CHECK, true);
        flow.on_deadline(CHECK + Time::from_us(4));
        assert_eq!((flow.rate.get(), flow.target), (25_000_000_000, expected));
    }
}

#[test]
fn a_timed_pause_leaves_a_share_of_the_rate_which_recovers_on_the_increase_timer() {
    let mut flow = flow(&config());
    flow.on_timed_pause(MARK, 0.5); // 500 of 1,000 ns
    flow.on_timed_pause(MARK, 0.4);
    assert_eq!((flow.rate.get(), flow.target), (20_000_000_000, 100_000_000_000));
    assert!(!flow.alpha.is_running());
    let later = MARK + Time::from_us(300);
    assert_eq!(flow.deadline(), later);
    // The increase is due at the time of the next pause, and comes first.
    flow.on_timed_pause(later, 0.0);
    assert_eq!((flow.rate.get(), flow.target), (1_000_000_000, 60_000_000_000));
    assert_eq!((flow.stage, flow.deadline()), (0, later + Time::from_us(300)));
}

#[test]
fn a_check_at_the_time_of_a_mark_comes_before_it() {
    let mut flow = flow(&config());
    acknowledge(&mut flow, MARK, true);
    acknowledge(&mut flow, CHECK, true);
    assert_eq!((flow.stage, flow.deadline()), (0, CHECK + Time::from_us(4)));
    flow.on_deadline(CHECK + Time::from_us(4));
    acknowledge(&mut flow, CHECK + Time::from_us(9), true);
    assert_eq!(flow.deadline(), CHECK + Time::from_us(12));
}

#[test]
fn a_tick_comes_before_a_mark_of_its_moment_when_it_was_set_earlier() {
    // The last flight of the fixture's path is 1.005 us: shorter than the first interval, longer than
    // the second.
    for (alpha_interval, ticks_with_mark) in [(Time::from_us(2), 1), (Time::from_us(1), 2)] {
        let mut flow = flow(&DcqcnMellanoxConfig { alpha_interval, ..config() });
        acknowledge(&mut flow, MARK, true);
        acknowledge(&mut flow, MARK + alpha_interval, true);
        flow.tick(MARK + alpha_interval);
        let after_first = flow.alpha.get();
        flow.tick(MARK + alpha_interval * 2);
        let is_first_marked = after_first == 1.0; // 255/256 + 1/256
        assert_eq!(is_first_marked, ticks_with_mark == 2, "{after_first}");
        assert!((flow.alpha.get() - (255.0 / 256.0)).abs() < 0.004);
    }
}

#[test]
fn an_increase_and_a_check_at_the_same_time_come_in_the_order_they_were_set() {
    for (increase_interval, stage) in [(Time::from_us(8), 1), (Time::from_us(4), 0)] {
        let mut flow = flow(&DcqcnMellanoxConfig { increase_interval, ..config() });
        acknowledge(&mut flow, MARK, true);
        let tie = CHECK + increase_interval;
        acknowledge(&mut flow, tie - Time::from_us(1), true);
        let before = flow.rate.get();
        flow.on_deadline(tie);
        // The cut came last in both cases. Only in the first case the cut saw an increase.
        assert_eq!((flow.stage, flow.deadline()), (0, tie + increase_interval));
        let target = if stage == 1 { before / 2 + 50_000_000_000 } else { 100_000_000_000 };
        assert_eq!(flow.target, target);
    }
}

#[test]
fn a_mark_counts_once_for_alpha_and_the_first_not_at_all() {
    let mut flow = flow(&config());
    acknowledge(&mut flow, MARK, true);
    acknowledge(&mut flow, MARK + Time::from_ns(2_500), true);
    acknowledge(&mut flow, MARK + Time::from_ns(2_700), true);
    flow.on_deadline(CHECK);
    let kept: f64 = 255.0 / 256.0;
    let expected = kept * (kept * (kept * kept) + 1.0 / 256.0); // the tick at 13 us saw it
    assert!((flow.alpha.get() - expected).abs() < 1e-15);
}

#[test]
fn a_tick_at_the_time_of_a_mark_comes_after_it() {
    let mut flow = flow(&config());
    acknowledge(&mut flow, MARK, true);
    acknowledge(&mut flow, MARK + Time::from_us(3), true);
    flow.on_deadline(CHECK);
    let kept: f64 = 255.0 / 256.0;
    let expected = kept * (kept * (kept * kept) + 1.0 / 256.0); // the tick at 13 us saw it
    assert!((flow.alpha.get() - expected).abs() < 1e-15);
}

#[test]
fn windows_follow_the_rate_only_where_they_are_scaled() {
    for (window, expected) in [(RateWindow::Bdp, 100_000), (RateWindow::Scaled, 1_000)] {
        let mut flow = flow(&DcqcnMellanoxConfig { window, ..config() });
        assert_eq!(flow.window(), 100_000);
        flow.rate.set(0);
        assert_eq!((flow.window(), flow.rate()), (expected, Some(BitRate::from_gbps(1))));
    }
}

#[test]
fn parameters_are_read_and_written_and_refused_out_of_bounds() {
    fixture::check_controller(
        JSON,
        &[
            (JSON.replace("0.00390625", "0"), "gain"),
            (JSON.replace(":4000000,", ":0,"), "decrease_interval"),
        ],
    );
}
