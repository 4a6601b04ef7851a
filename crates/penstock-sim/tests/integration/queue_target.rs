//! The queue at which a controller aims, and how busy the controller keeps the link.

use serde_json::Value;

use crate::bottleneck::{Bottleneck, profile, step};
use crate::fixture::{
    GBPS, MS, US, column, dcqcn, dcqcn_mellanox, dctcp, hpcc, ideal_fq, powertcp, theta_powertcp,
    with,
};

/// A full packet of DCTCP and DCQCN on the wire (bytes).
const PACKET: f64 = 1_048.0;
/// Round trip over links of 100 Gb/s and 2 us and one switch: four delays, and a packet and its ACK
/// on two links (s).
const ROUND_TRIP: f64 = 8e-6 + 2.0 * (PACKET + 60.0) * 8e-11;
/// Bytes in flight on that path.
const PRODUCT: f64 = 100e9 / 8.0 * ROUND_TRIP;

/// A bottleneck of 100 Gb/s and 2 us, sampled every microsecond.
fn short_path(scheme: Value, flows: usize, duration: u64) -> Bottleneck {
    Bottleneck { delay: 2 * US, interval: US, ..Bottleneck::new(scheme, flows, duration) }
}

/// DCTCP's saw tooth, sec. 5.4 (DCTCP paper, 3.3): W* = (C·T + K)/N, alpha = sqrt(2/W*), amplitude
/// A = 0.5·sqrt(2N·(C·T + K)) packets below a peak of K + N packets, period (W* + 1)·alpha/2 round
/// trips. The mean is taken over stretches of 1.5 periods, so that each has a peak and a trough.
/// The amplitude is right to 20 % in both directions, as good as sec. 28 found the form; the peaks
/// are right to 5 %.
#[test]
fn dctcp_swings_below_its_threshold_by_the_amplitude_of_its_paper() {
    let threshold = 60.0 * PACKET;
    for flows in [2, 4, 8, 16] {
        let scheme = step(dctcp(), threshold as u64, "enqueue");
        let measured = short_path(scheme, flows, 8 * MS).measure();
        let count = flows as f64;
        let packets = (PRODUCT + threshold) / PACKET;
        let amplitude = 0.5 * (2.0 * count * packets).sqrt();
        let window = packets / count;
        let round_trip = ROUND_TRIP + threshold * 8e-11;
        let period = (window + 1.0) * (2.0 / window).sqrt() / 2.0 * round_trip;
        let (trough, peak) = measured.mean_extremes((1.5 * period / 1e-6) as usize);
        let (swing, peak) = ((peak - trough) / PACKET, peak / PACKET);
        assert!((swing / amplitude - 1.0).abs() < 0.2, "{flows}: {swing}, not {amplitude}");
        assert!((peak / (60.0 + count) - 1.0).abs() < 0.05, "{flows}: {peak} packets");
        assert_eq!(measured.results.summary.drops, 0);
    }
}

/// Sec. 5.4: with K > C·T/7 the queue is never empty in its troughs, so the link stays 99 % busy
/// (sec. 23). With a threshold of a packet the link does not. From 8 flows on, the form with the
/// exact alpha of the paper's model has troughs below zero itself.
#[test]
fn dctcp_fills_the_link_from_a_seventh_of_the_product_on() {
    for at in ["enqueue", "dequeue"] {
        for flows in [2, 4] {
            let utilization = |threshold: f64| {
                let scheme = step(dctcp(), threshold as u64, at);
                short_path(scheme, flows, 6 * MS).measure().utilization
            };
            assert!(utilization(PRODUCT / 7.0) >= 0.99, "{}", utilization(PRODUCT / 7.0));
            assert!(utilization(PACKET) < 0.98, "{}", utilization(PACKET));
        }
    }
}

/// Sec. 9.4: no queue stands while N·W_AI < (1 - eta)·BDP. The mean is below one packet for each
/// flow (their packets may come together), and the link is 95 % busy. Each step beyond 95 % is W_AI
/// of a BDP; a round trip has one step from each flow, and two pass before the cut is felt.
#[test]
fn hpcc_holds_no_queue_and_95_percent_of_the_link() {
    for flows in [1, 2, 4] {
        let measured = short_path(hpcc(), flows, 6 * MS).measure();
        let count = flows as f64;
        assert!(measured.mean_queue() < count * 1_090.0, "{}", measured.mean_queue());
        let most = 0.95 + 2.0 * count * 80.0 / PRODUCT;
        let range = 0.9495..most;
        assert!(range.contains(&measured.utilization), "{flows}: {}", measured.utilization);
    }
}

/// N flows that start at line rate (sec. 9.4): a round trip to cut, and one more to drain. While
/// the queue lasts, a round trip takes N·T, so the queue is gone after 2·N·T. The link is busy
/// until then, and no queue of more than a packet a flow comes back.
#[test]
fn hpcc_drains_the_queue_of_a_start_at_line_rate_in_two_of_its_round_trips() {
    for flows in [4, 16] {
        let measured = Bottleneck { from: 0, ..short_path(hpcc(), flows, MS) }.measure();
        let peak = measured.largest_queue();
        let count = flows as f64;
        assert!(peak > 0.9 * (count - 1.0) * 1.09 * PRODUCT, "{flows}: {peak}");
        let rise = measured.queue.iter().position(|&queue| queue == peak).unwrap();
        let is_low = |&queue: &f64| queue <= count * 1_090.0;
        let drained = rise + measured.queue[rise..].iter().position(is_low).unwrap();
        assert!((drained as f64) < 2.0 * count * ROUND_TRIP / 1e-6, "{flows}: {drained} us");
        let sent = column(&measured.results, "series", "tx_bytes");
        let sent: Vec<f64> = sent.into_iter().step_by(flows + 1).collect();
        let busy = (sent[drained] - sent[rise]) / (drained - rise) as f64 / 12_500.0;
        assert!(busy > 0.99, "{flows}: {busy}");
        assert!(measured.queue[drained..].iter().all(is_low));
    }
}

/// Beyond that bound a queue stands (sec. 9.4: "N·W_AI - (1 - eta)·BDP roughly"). From
/// W = W·eta/U + W_AI and U = 1 + q/BDP it follows that q = N·W_AI·1090/1000 - (1 - eta)·BDP, where W
/// counts payload and q bytes on the wire. Right to 10 %: packets in flight are whole, up to one a flow
/// more than W. Links have 8 us, so that windows are many packets.
#[test]
fn hpcc_flows_that_add_too_much_hold_the_queue_of_the_form() {
    let product = 100e9 / 8.0 * (32e-6 + 2.0 * (PACKET + 60.0) * 8e-11);
    for flows in [16, 32] {
        let scheme = with(hpcc(), "/host/controller/additive_increase/size", 4_000);
        let measured =
            Bottleneck { delay: 8 * US, ..Bottleneck::new(scheme, flows, 4 * MS) }.measure();
        let standing = flows as f64 * 4_000.0 * 1.09 - 0.05 * product;
        let mean = measured.mean_queue();
        assert!((mean / standing - 1.0).abs() < 0.1, "{flows}: {mean} B, not {standing}");
        assert!(measured.utilization > 0.999);
    }
}

/// PowerTCP and theta-PowerTCP hold a queue of beta for each flow. From W = W/Gamma + beta and a power of
/// Gamma = 1 + q/BDP it follows that n windows, which are all that is in flight, leave q = n·beta in the
/// queue, where W counts payload and q bytes on the wire. Right to 10 %, as for HPCC. Theta-PowerTCP has
/// the least current of its authors' simulator; without it, 32 flows fill and drain megabytes in turn.
#[test]
fn powertcp_flows_hold_the_queue_of_their_increases() {
    let product = 100e9 / 8.0 * (32e-6 + 2.0 * (PACKET + 60.0) * 8e-11);
    let theta = with(theta_powertcp(100), "/host/controller/least_current", 0.5);
    for (scheme, packet) in [(powertcp(100), 1.09), (theta, 1.056)] {
        for flows in [16, 32] {
            let path = Bottleneck::new(scheme.clone(), flows, 8 * MS);
            let measured = Bottleneck { delay: 8 * US, ..path }.measure();
            let standing = flows as f64 * product / 100.0 * packet;
            let mean = measured.mean_queue();
            let name = &scheme["name"];
            assert!(
                (mean / standing - 1.0).abs() < 0.1,
                "{name} {flows}: {mean} B, not {standing}"
            );
            assert!(measured.utilization > 0.998, "{name} {flows}: {}", measured.utilization);
        }
    }
}

/// Sec. 7.3 (CoNEXT'16): p* = (R_AI·N²/(tau·C²)·(1/B + N/(T·C))²)^(1/3), with rates and B in
/// packets. The queue is Kmin + p*·(Kmax - Kmin)/Pmax. At 40 Gb/s and with Pmax = 1 %, as in the
/// paper; measured after the 20 ms that rates need to climb down from the line rate. Right to 15 %:
/// the form neglects higher powers of p*, and cuts of single flows move the mean of 20 ms.
#[test]
fn dcqcn_holds_the_queue_of_its_fixed_point_between_its_thresholds() {
    let capacity = 40e9 / 8.0 / PACKET; // packets/s
    let (increase, bytes) = (40e6 / 8.0 / PACKET, 10e6 / PACKET);
    for (flows, kmin) in [(4, 40_000), (4, 5_000), (8, 40_000), (8, 5_000)] {
        let scheme = profile(dcqcn(), kmin, 200_000, 0.01);
        let starts = (0..flows as u64).map(|flow| flow * 100 * US).collect();
        let bottleneck = Bottleneck::new(scheme, flows, 40 * MS);
        let measured =
            Bottleneck { starts, rate: 40 * GBPS, interval: 10 * US, ..bottleneck }.measure();
        let count = flows as f64;
        let share = 1.0 / bytes + count / (55e-6 * capacity);
        let probability =
            (increase * count * count / (50e-6 * capacity * capacity) * share * share).cbrt();
        let kmin = kmin as f64;
        let expected = kmin + probability / 0.01 * (200_000.0 - kmin);
        let mean = measured.mean_queue();
        assert!((mean / expected - 1.0).abs() < 0.15, "{flows}: {mean} B, not {expected}");
        assert!(kmin < mean && mean < 200_000.0);
        assert!(measured.utilization > 0.99, "{}", measured.utilization);
    }
}

/// The firmware's DCQCN cuts much and climbs only every 300 us. The queue grows a little beyond
/// Kmin, is gone after the cut, and comes again. So its peaks lie between Kmin and Kmax, but its
/// mean does not. The link is 95 to 100 % busy (sec. 23), once the hyper increase has brought the
/// rates together.
#[test]
fn mellanox_dcqcn_peaks_between_its_thresholds_and_keeps_the_link_busy() {
    for flows in [2, 4] {
        let measured = Bottleneck::new(dcqcn_mellanox(), flows, 20 * MS).measure();
        let peak = measured.largest_queue();
        assert!((100_000.0..400_000.0).contains(&peak), "{peak}");
        assert!((0.95..=1.0).contains(&measured.utilization), "{}", measured.utilization);
    }
}

/// Under fair queueing, two windows of a BDP or more keep the link busy, to a packet (sec. 23).
#[test]
fn fair_queueing_never_leaves_the_link_idle() {
    for flows in [2, 4] {
        let scheme = with(ideal_fq(), "/host/controller/bdp_factor", 1.5);
        let measured = Bottleneck::new(scheme, flows, 2 * MS).measure();
        assert!((measured.utilization - 1.0).abs() < 1e-4, "{}", measured.utilization);
    }
}
