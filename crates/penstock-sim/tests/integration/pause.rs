//! Closed forms of PFC at one egress, and the headroom that PFC needs.

use penstock_sim::{PauseRoom, Results, pause_room};
use penstock_units::Bytes;
use serde_json::{Value, json};

use crate::fixture::{
    GBPS, MS, NS, US, bfc, column, dumbbell, graph, incast, listed, parse, pfc, run,
    run_to_the_end, scenario, single_switch, with,
};

/// `flows` endless flows at line rate into host 0, each from a host of its own, for `duration`.
fn endless(scheme: Value, flows: u32, duration: u64) -> Results {
    let list: Vec<_> = (1..=flows).map(|host| (host, 0, 0, 0)).collect();
    let scenario = scenario(single_switch(flows + 1), scheme, &[listed(&list)], duration);
    run(&with(scenario, "/drain", 0))
}

/// A host that gets 1/N of the egress is paused for the rest of the time, 1 - 1/N, and the egress
/// never stops. Measured as the difference of two runs: from 2 ms, when the buffer has filled up to
/// XOFF, to 4 ms. The share is right to 0.005, a pause of 5 us at either end; the goodput is right
/// to a packet at either end.
#[test]
fn hosts_without_control_are_paused_for_the_share_of_the_others() {
    for flows in [2, 4] {
        let (early, late) = (endless(pfc(), flows, 2 * MS), endless(pfc(), flows, 4 * MS));
        let difference = |name: &str, link: usize| {
            column(&late, "links", name)[link] - column(&early, "links", name)[link]
        };
        for host in 1..=flows as usize {
            let share = difference("port_pause_ns", 2 * host) / 2e6; // its uplink
            let expected = 1.0 - 1.0 / f64::from(flows);
            assert!((share - expected).abs() < 0.005, "{flows} flows, host {host}: {share}");
        }
        let goodput = difference("data_bytes", 1);
        let expected = 2e-3 * 100e9 / 8.0 * 1_000.0 / 1_048.0;
        assert!((goodput - expected).abs() <= 2_000.0, "{goodput} B, not {expected}");
        assert_eq!(late.summary.drops, 0);
    }
}

/// Four hosts in step with pauses of 5 us, refreshed by each packet that arrives above XOFF and by a
/// clock of 2 us. While an ingress is above XOFF its host stays paused, as without a lifetime; frames
/// are many. Between XOFF and an XON far below it no frame follows: there the pause ends by itself, so
/// that a host is paused far more often than one that waits for XON, and hardly a resume is sent.
#[test]
fn timed_pauses_last_while_they_are_refreshed_and_end_by_themselves() {
    let of = |pause: Value| {
        let static_xoff =
            json!({"kind": "pfc", "xon_offset": 90_000, "xoff": 100_000, "pause": pause});
        let scheme = with(pfc(), "/switch/backpressure", static_xoff);
        let scheme = with(scheme, "/switch/admission/buffer", 1 << 30);
        let results = endless(scheme, 4, 2 * MS);
        assert_eq!(results.summary.drops, 0);
        let of_host = |name: &str| column(&results, "links", name)[2];
        (of_host("port_pause_ns") / 2e6, of_host("port_pauses"), results.summary.pfc_pauses)
    };
    let (lasting_share, lasting_pauses, lasting_frames) = of(json!({"kind": "lasting"}));
    let (share, pauses, frames) = of(json!({"kind": "timed", "lifetime": 5 * US,
        "refresh": 2 * US, "at_arrivals": true}));
    assert!(
        (lasting_share - 0.75).abs() < 0.03 && (share - 0.75).abs() < 0.03,
        "{lasting_share} {share}"
    );
    assert!(pauses > 2.0 * lasting_pauses, "{pauses} against {lasting_pauses}");
    assert!(lasting_frames as f64 <= 4.0 * lasting_pauses + 4.0, "{lasting_frames}");
    assert!(frames as f64 > 4.0 * 5.0 * pauses, "{frames} of {pauses} pauses");
}

/// A switch that has resumed a faster link runs dry unless XON·8/C lasts for the round trip of the
/// link, 2d, and the first packet (sec. 1.6): 25,262 B at 100 Gb/s behind a link of 400 Gb/s. With
/// that XON the switch never runs dry. With two packets less it runs dry each time; two, because
/// one packet is being sent at the resume.
#[test]
fn the_egress_runs_dry_when_less_than_a_round_trip_is_left_at_the_resume() {
    let busy = |xon: u64| {
        let scheme = with(pfc(), "/switch/admission/ingress/reserve", 0);
        let static_xoff = json!({"kind": "pfc", "xon_offset": 60_000 - xon, "xoff": 60_000,
            "pause": {"kind": "lasting"}});
        let scheme = with(scheme, "/switch/backpressure", static_xoff);
        let topology = dumbbell(1, 1, 400 * GBPS);
        let results = |duration| {
            let flow = listed(&[(0, 1, 0, 0)]);
            let scenario = scenario(topology.clone(), scheme.clone(), &[flow], duration);
            run(&with(scenario, "/drain", 0))
        };
        let (early, late) = (results(2 * MS), results(4 * MS));
        assert!(late.summary.pfc_pauses > 200 && late.summary.drops == 0);
        // Cable 2 is the core; cables 0 and 1 lead to the hosts.
        let core = |results| column(results, "links", "busy_ns")[4];
        (core(&late) - core(&early)) / 2e6
    };
    let enough = IN_FLIGHT + 262;
    assert!((busy(enough) - 1.0).abs() < 1e-4, "{}", busy(enough));
    assert!(busy(enough - 2 * 1_048) < 0.995, "{}", busy(enough - 2 * 1_048));
}

/// Bytes that arrive between XOFF and the last packet sent before the pause took effect: 2·d·C/8.
const IN_FLIGHT: u64 = 25_000;
/// A packet (bytes).
const PACKET: u64 = 1_048;
/// Bytes that a headroom needs besides those (sec. 1.3) while no data comes back: the packet that goes
/// beyond XOFF, a packet that the peer has begun, and the pause itself.
const FRAMES: u64 = 2 * PACKET + 64;

/// PFC with a headroom of `bytes`, and a buffer so small that it is soon full.
fn with_headroom(bytes: u64) -> Value {
    let headroom = json!({"kind": "bytes", "size": bytes});
    let scheme = with(pfc(), "/switch/admission/ingress/headroom", headroom);
    with(scheme, "/switch/admission/buffer", 2 << 20)
}

/// No packet is lost if and only if the headroom has the size of sec. 1.3: with 2·d·C/8 and the
/// frames nothing is lost, with less than 2·d·C/8 something is. There are many hosts, so that each
/// has next to no share of the egress and the arriving bytes stay.
#[test]
fn the_headroom_of_the_form_is_enough_and_less_than_a_round_trip_is_not() {
    for flows in [4, 16] {
        let enough = endless(with_headroom(IN_FLIGHT + FRAMES), flows, MS).summary;
        assert_eq!(enough.drops, 0, "{flows} flows");
        assert!(enough.pfc_pauses > 100);
        let short = endless(with_headroom(IN_FLIGHT - 1_000), flows, MS).summary;
        assert!(short.drops > 0, "{flows} flows");
    }
}

/// The pause waits for a packet of the data that comes back. Without room for it packets are lost, and
/// with it none are: the headroom has three packets in all, as `lossless` has.
#[test]
fn data_on_the_way_back_takes_another_packet_of_the_headroom() {
    let both_ways = |scheme: Value| {
        let list: Vec<_> = (1..=16).flat_map(|host| [(host, 0, 0, 0), (0, host, 0, 0)]).collect();
        let scenario = scenario(single_switch(17), scheme, &[listed(&list)], MS);
        run(&with(scenario, "/drain", 0)).summary
    };
    assert!(both_ways(with_headroom(IN_FLIGHT + FRAMES)).drops > 0);
    let lossless = json!({"kind": "lossless"});
    let enough = with(with_headroom(0), "/switch/admission/ingress/headroom", lossless);
    let enough = both_ways(enough);
    assert_eq!(enough.drops, 0);
    let peak = enough.headroom_peak_bytes[0];
    assert!((IN_FLIGHT + FRAMES..=IN_FLIGHT + FRAMES + PACKET).contains(&peak), "{peak}");
}

/// With two hosts in step, half of the arriving bytes leave meanwhile. The headroom then holds at
/// most 2·d·C/8·(1 - 1/2) and the frames (sec. 1.6). With a headroom of less than that half,
/// packets are lost.
#[test]
fn two_hosts_need_half_a_round_trip_because_half_of_it_leaves() {
    let half = IN_FLIGHT / 2;
    let enough = endless(with_headroom(half + FRAMES), 2, MS).summary;
    assert_eq!(enough.drops, 0);
    assert!(enough.headroom_peak_bytes[0] > half - 1_048, "{:?}", enough.headroom_peak_bytes);
    assert!(endless(with_headroom(half - 1_048), 2, MS).summary.drops > 0);
}

/// The high-water mark of the headroom is below H = 3·d·C/8 (sec. 23, item 4), and within the bytes
/// in flight and the frames. At the end of the run nothing is stored, and the run checks that every
/// counter of the switch then is what the stored packets add up to: zero.
#[test]
fn an_incast_leaves_part_of_the_headroom_unused_and_the_counters_at_zero() {
    let topology = single_switch(25);
    let scheme = with(pfc(), "/switch/admission/buffer", 4 << 20);
    let incast = incast(24, 500_000, Some(0));
    let scenario = with(scenario(topology, scheme, &[incast], US), "/measure/sample_interval", US);
    let results = run_to_the_end(&scenario);
    let summary = &results.summary;
    assert!(summary.pfc_pauses > 24 && summary.drops == 0);
    let peak = summary.headroom_peak_bytes[0];
    assert!((1..=IN_FLIGHT + FRAMES).contains(&peak), "{peak}");
    let stored = column(&results, "buffers", "buffer_bytes");
    assert!(stored.iter().any(|&bytes| bytes > 0.0));
    assert_eq!(stored.last(), Some(&0.0));
}

#[test]
fn every_link_into_a_switch_needs_room_for_what_comes_until_a_pause_acts() {
    // Switches 2 and 3 with a pipeline of 500 ns; a host at 100 Gb/s and one at 1 Gb/s.
    let cables = [(0, 2, 100, 15 * NS), (1, 3, 1, 15 * NS), (2, 3, 100, 250 * NS)];
    let network = with(graph(2, 2, &cables), "/pipeline_delay", 500 * NS);
    let rooms = |scheme: Value| {
        let flow = listed(&[(0, 1, 1_000, 0)]);
        pause_room(&parse(&scenario(network.clone(), scheme, &[flow], US))).unwrap()
    };
    let room = |from, to, needed: u64, headroom: Option<u64>| PauseRoom {
        from,
        to,
        needed: Bytes::new(needed),
        headroom: headroom.map(Bytes::new),
    };
    // Three packets of 1,048 B and a frame of 64 B, and what a link carries in a one-hop round trip: 530 ns
    // at 100 and at 1 Gb/s, 1,500 ns at 100 Gb/s. The headroom is three times 15 or 250 ns of the link.
    let expected = [
        room(0, 2, 6_625 + 3_208, Some(3 * 187)),
        room(3, 2, 18_750 + 3_208, Some(3 * 3_125)),
        room(1, 3, 66 + 3_208, Some(3)),
        room(2, 3, 18_750 + 3_208, Some(3 * 3_125)),
    ];
    assert_eq!(rooms(pfc()), expected);
    // Without thresholds of ingresses there is no headroom.
    assert_eq!(rooms(bfc()), expected.map(|room| PauseRoom { headroom: None, ..room }));
}
