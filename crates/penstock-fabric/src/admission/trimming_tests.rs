//! Short queues whose overflow loses its payload.

use alloc::format;
use alloc::vec::Vec;

use penstock_packet::{Packet, PacketKind};

use super::*;
use crate::admission::AdmissionConfig;
use crate::fixture::refusal::{DRR, PFC, SFQ, refused};
use crate::fixture::{Bench, FRAMES, flow, hosts, plain};
use crate::switch::Arrival;

const TRIMMING: (&str, &str) =
    ("admission", r#"{"kind": "trimming", "packets": 8, "control_weight": 10}"#);
const FULL: u16 = FRAMES.packet;

fn bench(packets: u32) -> Bench {
    let admission = AdmissionConfig::Trimming(TrimmingConfig { packets, control_weight: 10 });
    Bench::new(&SwitchConfig { admission, ..plain() }, &hosts(2))
}

/// A switch with room for eight packets gets so many full packets at once, numbered by their flows. Answers
/// what leaves it, in order.
fn overflowed(count: u32) -> Vec<Packet> {
    let mut bench = bench(8);
    for flow_hash in 0..count {
        let packet = Packet { flow_hash, wire_bytes: FULL, payload: 1_000, ..Packet::default() };
        let id = bench.pool.insert(packet);
        bench.call(|switch, turn| switch.receive(turn, 1, id));
    }
    let left = core::iter::from_fn(|| {
        let id = bench.call(|switch, turn| switch.transmit(turn, 0)).0?;
        let packet = bench.pool[id];
        bench.pool.remove(id);
        Some(packet)
    });
    left.collect()
}

#[test]
fn eight_packets_fit_and_the_ninth_overflows() {
    let mut bench = bench(8);
    for number in 0..8 {
        bench.admit(flow(number), FULL);
    }
    bench.arrive(flow(8), FULL);
    assert_eq!(bench.switch.port(0).counters.drops, 1);
    assert_eq!(bench.switch.port(0).bytes(), 8 * u64::from(FULL));
}

#[test]
fn a_data_packet_leaves_after_every_ten_headers() {
    let left = overflowed(40);
    let is_data: Vec<bool> = left.iter().map(|packet| packet.kind == PacketKind::Data).collect();
    let data_at: Vec<usize> = (0..40).filter(|&place| is_data[place]).collect();
    // Of 32 headers and 8 packets: 10 and 1, three times; then 2 headers, and data alone.
    assert_eq!(data_at, [10, 21, 32, 35, 36, 37, 38, 39], "nothing is lost");
    let headers = left.iter().filter(|packet| packet.kind == PacketKind::Trimmed);
    assert!(headers.clone().all(|header| header.wire_bytes == 64 && header.payload == 1_000));
    // The first seven are never the last of a full queue.
    let kept: Vec<_> = data_at[..7].iter().map(|&place| left[place].flow_hash).collect();
    assert_eq!(kept, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn the_packet_that_arrives_is_trimmed_half_of_the_time() {
    let left = overflowed(1_008);
    // A packet that takes the place of the last one is trimmed later, by the one that takes its own.
    let headers = left.iter().filter(|packet| packet.kind == PacketKind::Trimmed);
    let headers: Vec<_> = headers.map(|header| header.flow_hash).collect();
    // Packet 8 + n arrives as the nth overflow, and is the nth header where it is trimmed itself.
    let arriving = headers.iter().zip(8..).filter(|&(&flow, number)| flow == number).count();
    // Binomial: mean 500, standard deviation 15.8; five of them.
    assert!(arriving.abs_diff(500) < 80, "{arriving}");
}

#[test]
fn a_packet_longer_than_the_queue_is_trimmed_itself() {
    let mut bench = bench(1);
    assert_eq!(bench.arrive(flow(1), FULL + 1), Arrival::Dropped);
    bench.admit(flow(2), FULL);
}

#[test]
fn it_goes_with_one_queue_and_with_policies_that_need_not_hear_of_drops() {
    assert!(refused(&[TRIMMING], &[]).is_empty());
    for (table, expected) in [
        (SFQ, "it cuts packets of the one data queue of a port, and the stochastic assignment"),
        (PFC, "a packet that backpressure has counted may be dropped"),
    ] {
        let found = refused(&[TRIMMING, DRR, table], &[]);
        let expected = format!("admission.kind is trimming; {expected}");
        assert!(found.iter().any(|one| one.starts_with(&expected)), "{found:?}");
    }
    let none = refused(&[TRIMMING], &[("/admission/packets", 0.into())]);
    assert_eq!(none, ["admission.packets is 0; write 1 to 65536"]);
}
