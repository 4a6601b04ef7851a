//! How long FAFC's pause times take: `cargo bench -p penstock-fabric`. Prints the mean over random
//! programs for several numbers of ports. Nothing is asserted.

use std::hint::black_box;
use std::time::Instant;

use penstock_fabric::backpressure::fafc::pause_time::{IngressPort, allocate};
use penstock_units::random::Pcg32;
use rand_core::RngCore;

const PROGRAMS: usize = 1_000;
const REPEATS: usize = 100;

fn main() {
    let mut random = Pcg32::new(1, 1);
    let mut share = || f64::from(random.next_u32()) / f64::from(u32::MAX);
    for ports in [8, 16, 32, 64, 128] {
        let programs: Vec<(Vec<IngressPort>, f64)> = (0..PROGRAMS)
            .map(|_| {
                let port = |_| IngressPort { relief: share(), loss: share(), longest: 1_000.0 };
                let program: Vec<IngressPort> = (0..ports).map(port).collect();
                let need = share() * program.iter().map(|port| port.relief * 1_000.0).sum::<f64>();
                (program, need)
            })
            .collect();
        let (mut ranks, mut times) = (vec![0; ports], vec![0.0; ports]);
        let start = Instant::now();
        for (program, need) in programs.iter().cycle().take(PROGRAMS * REPEATS) {
            allocate(black_box(program), *need, &mut ranks, &mut times);
            black_box(&times);
        }
        let each = start.elapsed().as_secs_f64() * 1e6 / (PROGRAMS * REPEATS) as f64;
        println!("{ports} ports: {each:.2} us");
    }
}
