//! Which controllers bring endless flows that start one after the other to equal shares of a link.

use serde_json::{Value, json};

use crate::bottleneck::{Bottleneck, Measured, profile, step};
use crate::fixture::{
    GBPS, MS, US, dcqcn, dcqcn_mellanox, dctcp, dctcp_tcp, hpcc, powertcp, qcn, swift,
    theta_powertcp, timely, with,
};

/// Checks two and four flows, each of which starts `gap` after the one before. Jain's index of the
/// goodputs in the second half must be 0.99, as the ladder of sec. 23 asks.
fn check_fair(gap: u64, bottleneck: impl Fn(usize) -> Bottleneck) {
    for flows in [2, 4] {
        let starts = (0..flows as u64).map(|flow| flow * gap).collect();
        let measured = Bottleneck { starts, ..bottleneck(flows) }.measure();
        let jain = measured.jain();
        assert!(jain >= 0.99, "{flows} flows: {jain}, {:?}", measured.goodputs);
    }
}

/// DCTCP, which marks arrivals beyond a step of 60 kB, as in its paper.
#[test]
fn dctcp_flows_become_equal() {
    check_fair(500 * US, |flows| Bottleneck {
        delay: 2 * US,
        ..Bottleneck::new(step(dctcp(), 60_000, "enqueue"), flows, 12 * MS)
    });
}

/// DCTCP on the window of TCP, at 10 Gb/s with AFQ's step of 30 kB. The NIC limits the first flow while it
/// is alone: a window that grew on then would leave the second flow less than a fifth. Two flows only,
/// because the windows of more are a few packets, and their cuts lock into a fixed order (0.95 to 0.98 with
/// four, by the time between the starts).
#[test]
fn two_dctcp_flows_of_tcp_become_equal() {
    let (rate, delay, interval, starts) = (10 * GBPS, 5 * US, 20 * US, vec![0, MS]);
    let bottleneck = Bottleneck::new(step(dctcp_tcp(1_000_000), 30_000, "enqueue"), 2, 20 * MS);
    let measured = Bottleneck { rate, delay, interval, starts, ..bottleneck }.measure();
    assert!(measured.jain() >= 0.99, "{:?}", measured.goodputs);
}

/// HPCC with half of the additive increase that its rule W_AI = W·(1 - eta)/N allows (sec. 9.3), so
/// that no queue stands.
#[test]
fn hpcc_flows_become_equal() {
    check_fair(300 * US, |flows| {
        let increase = (102_216.0 * 0.05 / flows as f64 / 2.0) as u64;
        let scheme = with(hpcc(), "/host/controller/additive_increase/size", increase);
        Bottleneck { delay: 2 * US, ..Bottleneck::new(scheme, flows, 6 * MS) }
    });
}

/// PowerTCP and theta-PowerTCP, both with half of the flows for which their increase is made.
#[test]
fn powertcp_flows_become_equal() {
    for scheme in [powertcp, theta_powertcp] {
        check_fair(300 * US, |flows| {
            let scheme = scheme(2 * flows as u32);
            Bottleneck { delay: 2 * US, ..Bottleneck::new(scheme, flows, 6 * MS) }
        });
    }
}

/// DCQCN of the paper, at the 40 Gb/s of the paper's numbers. The run is long, because steps of 40
/// Mb/s every 55 us need milliseconds to reach a share of 10 Gb/s.
#[test]
fn dcqcn_flows_become_equal_at_the_rate_of_its_paper() {
    check_fair(100 * US, |flows| {
        let scheme = profile(dcqcn(), 40_000, 200_000, 0.01);
        let (rate, interval) = (40 * GBPS, 20 * US);
        Bottleneck { rate, interval, ..Bottleneck::new(scheme, flows, 60 * MS) }
    });
}

/// DCQCN of the firmware, which increases a rate every 300 us.
#[test]
fn mellanox_dcqcn_flows_become_equal() {
    check_fair(100 * US, |flows| Bottleneck::new(dcqcn_mellanox(), flows, 20 * MS));
}

/// Swift. A new flow starts with a window of one packet, which does not disturb the flows that are
/// there.
#[test]
fn swift_flows_become_equal() {
    check_fair(100 * US, |flows| Bottleneck::new(swift(1), flows, 4 * MS));
}

/// QCN gives equal rates in the long run (sec. 6.3), at the 10 Gb/s of the standard's numbers. Two
/// flows only: four need seconds, because a flow with a low rate is seldom told to slow down, and
/// gains only 5 Mb/s at a time.
#[test]
fn two_qcn_flows_become_equal() {
    let (rate, interval, starts) = (10 * GBPS, 50 * US, vec![0, MS]);
    let bottleneck = Bottleneck::new(qcn(), 2, 100 * MS);
    let measured = Bottleneck { rate, interval, starts, ..bottleneck }.measure();
    assert!(measured.jain() >= 0.99, "{:?}", measured.goodputs);
}

/// TIMELY of the paper: an update per 16 kB, no hyper-active increase below T_low, and steps of 100
/// Mb/s, as the paper adds 10 Mb/s at 10 Gb/s.
fn timely_of_the_paper() -> Value {
    let scheme = with(timely(), "/host/controller/hyper_below_low", false);
    with(scheme, "/host/controller/update", json!({"kind": "segment", "size": 16_000}))
}

/// Four flows, each `gap` after the one before.
fn timely_started_every(gap: u64) -> Measured {
    let starts = (0..4).map(|flow| flow * gap).collect();
    Bottleneck { starts, ..Bottleneck::new(timely_of_the_paper(), 4, 10 * MS) }.measure()
}

/// TIMELY has no unique fixed point: any shares that fill the link are one (sec. 8.3, CoNEXT'16).
/// The same four flows share evenly when they start together. When they start 100 us apart, the
/// last one keeps nearly everything. The bounds are far from both results (0.9995 and 0.27).
#[test]
fn the_shares_of_timely_flows_depend_on_when_they_started() {
    let together = timely_started_every(0);
    assert!(together.jain() > 0.98, "{:?}", together.goodputs);
    let apart = timely_started_every(100 * US);
    assert!(apart.jain() < 0.4, "{:?}", apart.goodputs);
    assert!(apart.goodputs[3] > 0.8e11, "{:?}", apart.goodputs);
    assert!(apart.utilization > 0.99, "a fixed point: {}", apart.utilization);
}

/// The queue of TIMELY is C·(T_low - T)/8. At a round-trip time of T_low only growth of the
/// round-trip time cuts a rate, and below T_low every rate grows (sec. 8.3). The queue oscillates
/// by 12 % around the fixed point; its mean is at most 1 % below the fixed point.
#[test]
fn the_queue_of_timely_flows_is_what_its_lower_threshold_lets_stand() {
    let measured = timely_started_every(100 * US);
    let base_rtt = 4.0 + 2.0 * (1_056.0 + 60.0) * 8e-5; // us
    let standing = 100e3 / 8.0 * (50.0 - base_rtt); // bytes
    assert!(measured.mean_queue() > 0.99 * standing, "{}", measured.mean_queue());
    for &queue in &measured.queue {
        assert!((queue / standing - 1.0).abs() < 0.12, "{queue} B, not {standing}");
    }
}

/// Patched TIMELY has one fixed point (sec. 8.2). With a flat round-trip time w is 1/2, so delta/2
/// = R·beta/2·(RTT - RTT_ref)/RTT_ref. N equal rates of C/N then give RTT = T_low·(1 +
/// N·delta/(beta·C)). The queue is C·(RTT - T)/8, to two packets: samples are whole packets, and a
/// packet more or less is on the wire. Run at 10 Gb/s, the rate for which beta = 0.008, delta = 10
/// Mb/s and 16 kB are made.
#[test]
fn patched_timely_flows_become_equal_and_hold_the_queue_of_their_fixed_point() {
    let controller = [
        ("decrease_factor", json!(0.008)),
        ("additive_increase", json!(GBPS / 100)),
        ("minimum_rate", json!(GBPS / 100)),
        ("band", json!({"kind": "patched", "reference_rtt": 50 * US})),
    ];
    let scheme = controller.into_iter().fold(timely_of_the_paper(), |scheme, (field, value)| {
        with(scheme, &format!("/host/controller/{field}"), value)
    });
    let base_rtt = 4.0 + 2.0 * (1_056.0 + 60.0) * 8e-4; // us
    for flows in [2, 4] {
        let starts = (0..flows as u64).map(|flow| flow * 5 * MS).collect();
        let (rate, interval) = (10 * GBPS, 50 * US);
        let bottleneck = Bottleneck::new(scheme.clone(), flows, 150 * MS);
        let measured = Bottleneck { starts, rate, interval, ..bottleneck }.measure();
        assert!(measured.jain() > 0.999, "{:?}", measured.goodputs);
        let rtt = 50.0 * (1.0 + flows as f64 * 10e6 / (0.008 * 10e9)); // us
        let queue = 10e3 / 8.0 * (rtt - base_rtt); // bytes
        let mean = measured.mean_queue();
        assert!((mean - queue).abs() < 2.0 * 1_056.0, "{flows} flows: {mean} B, not {queue}");
        assert!(measured.utilization > 0.999, "{}", measured.utilization);
    }
}
