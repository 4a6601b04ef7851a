//! The slab: names, reuse, telemetry.

use alloc::vec::Vec;

use super::*;

fn packet(offset: u64) -> Packet {
    Packet { offset, ..Packet::default() }
}

#[test]
fn freed_slots_are_used_again_last_in_first_out() {
    let mut pool = PacketPool::new(false);
    let ids: Vec<PacketId> = (0..4).map(|offset| pool.insert(packet(offset))).collect();
    pool.remove(ids[1]);
    pool.remove(ids[3]);
    assert_eq!(pool.live(), 2);
    assert_eq!([0, 1, 2].map(|others| pool.slot_after(others)), [Some(ids[3]), Some(ids[1]), None]);
    assert_eq!([pool.insert(packet(10)), pool.insert(packet(11))], [ids[3], ids[1]]);
    assert_eq!([ids[0], ids[1], ids[2], ids[3]].map(|id| pool[id].offset), [0, 11, 2, 10]);
    assert_eq!(pool.live(), 4);
    assert_eq!(pool.beside(ids[0]).count(), 0, "no telemetry beside the packets");
}

#[test]
fn a_new_packet_has_no_telemetry_of_the_old_one() {
    let mut pool = PacketPool::new(true);
    let id = pool.insert(packet(0));
    pool.push_telemetry(id, HopTelemetry::default());
    assert_eq!(pool.telemetry(id).len(), 1);
    assert_eq!(pool.beside(id).count(), 2, "two cache lines");
    pool.remove(id);
    let again = pool.insert(packet(1));
    assert_eq!((again, pool.telemetry(again).len()), (id, 0));
}

#[test]
fn telemetry_is_in_the_order_of_the_hops_and_has_an_end() {
    let mut pool = PacketPool::new(true);
    let id = pool.insert(packet(0));
    for hop in 0..TELEMETRY_HOPS as u64 + 3 {
        pool.push_telemetry(id, HopTelemetry { sent_bytes: hop, ..HopTelemetry::default() });
    }
    let seen: Vec<u64> = pool.telemetry(id).iter().map(|hop| hop.sent_bytes).collect();
    assert_eq!(seen, (0..TELEMETRY_HOPS as u64).collect::<Vec<u64>>());
}
