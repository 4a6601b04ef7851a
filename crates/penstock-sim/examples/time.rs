//! temporary timing
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let scenario = penstock_sim::Scenario::from_json(&std::fs::read_to_string(path).unwrap())
        .unwrap_or_else(|e| panic!("{e}"));
    let check = std::env::args().nth(2).is_some_and(|a| a == "check");
    let t = std::time::Instant::now();
    let mut bare = penstock_sim::bare::BareLoop::new(&scenario).unwrap_or_else(|e| panic!("{e}"));
    println!("build {:.3}", t.elapsed().as_secs_f64());
    let t = std::time::Instant::now();
    let (hops, events) = bare.run();
    let s = t.elapsed().as_secs_f64();
    println!("bare: {hops} hops {events} events {s:.3} s {:.1} ns/hop", s * 1e9 / hops as f64);
    drop(bare);
    let t = std::time::Instant::now();
    let r = penstock_sim::run(&scenario, penstock_sim::RunOptions { check }, |_| true)
        .unwrap_or_else(|e| panic!("{e}"));
    let s = t.elapsed().as_secs_f64();
    let m = &r.summary;
    println!(
        "run: {} hops {} events {s:.3} s {:.1} ns/hop flows {}/{} drops {} retx {} timeouts {} digest {} pfc {} qp {} end {} rtt {}",
        m.packet_hops,
        m.events,
        s * 1e9 / m.packet_hops as f64,
        m.flows_finished,
        m.flows_started,
        m.drops,
        m.retransmitted_packets,
        m.timeouts,
        m.digest,
        m.pfc_pauses,
        m.queue_pauses,
        m.sim_end_ps,
        m.base_rtt_ps
    );
    println!("{:?}", m.queue_delay_ns);
    println!("{:?}", m.unfinished.first());
}
