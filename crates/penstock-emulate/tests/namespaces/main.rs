//! What happens in namespaces, tried in namespaces. Each case runs in a process of its own.
//!
//! Where the system forbids namespaces, the cases are skipped and the reason is printed. With
//! `PENSTOCK_REQUIRE_NAMESPACES=1` that is a failure. One case alone: `cargo test --test namespaces
//! NAME`.

mod congestion;
mod decisions;
mod ending;
mod frames;
#[path = "../golden/mod.rs"]
mod golden;
mod network;
mod packets;
mod privileges;
mod programs;
mod transfer;

use std::process::{Command, ExitCode};
use std::time::Instant;

use penstock_emulate::namespace::{HostSettings, NamespaceError, enter};

/// The variable that tells a process which case it runs.
const CASE: &str = "PENSTOCK_NAMESPACE_CASE";

/// The exit code of the probe where the system forbids namespaces (Automake's code for a skipped
/// test).
const SKIPPED: u8 = 77;

/// A case, and what it does in its process.
type Case = (&'static str, fn());

/// The cases that the harness runs.
const CASES: &[Case] = &[
    ("tcp_carries_a_megabyte_each_way_over_ipv4", transfer::over_ipv4),
    ("tcp_carries_a_megabyte_each_way_over_ipv6", transfer::over_ipv6),
    ("a_frame_that_was_changed_on_the_way_is_dropped", transfer::with_changed_frames),
    ("a_quiet_host_sends_nothing", transfer::of_a_quiet_host),
    ("no_route_leads_out", transfer::no_way_out),
    ("frames_without_room_are_counted", transfer::counts_what_finds_no_room),
    ("connections_have_the_congestion_control_of_their_host", congestion::of_connections),
    ("programs_choose_among_the_allowed_congestion_controls", congestion::chosen_by_programs),
    ("unknown_congestion_controls_are_refused_by_name", congestion::unknown),
    ("settings_that_cannot_be_are_refused", refused),
    ("ecn_is_negotiated_as_set", congestion::ecn),
    ("frames_of_kernels_are_decided_the_same_again", decisions::of_kernels),
    ("the_kernel_answers_nothing_for_a_host_of_ours", packets::kernel_is_silent),
    ("packet_sockets_carry_frames_whole", packets::frames_are_whole),
    ("capabilities_are_gone_for_good", privileges::are_gone),
    ("a_thread_that_keeps_capabilities_is_named", privileges::a_forgotten_thread),
    ("programs_wait_for_the_drop_of_privileges", privileges::programs_come_later),
    ("a_limit_of_zero_is_named", privileges::limit_of_zero),
    ("programs_are_watched_and_ended", programs::are_watched),
    ("a_stubborn_group_is_killed", programs::stubborn_group),
    ("programs_have_no_capabilities", programs::have_no_capabilities),
    ("the_exit_code_of_the_worker_passes_through", ending::exit_codes),
    ("signals_reach_the_worker", ending::signals),
    ("a_worker_whose_starter_is_gone_ends", ending::starter_is_gone),
    ("killed_at_random_moments_nothing_is_left", ending::killed),
];

/// What the cases above run in further processes.
const PARTS: &[Case] = &[
    ("probe", probe),
    ("connect", congestion::part_connect),
    ("exit_code", ending::part_exit_code),
    ("wait_for_signal", ending::part_wait_for_signal),
    ("starter", ending::part_starter),
    ("busy_worker", ending::part_busy_worker),
    ("a_million_frames_of_kernels", decisions::of_a_million),
];

fn main() -> ExitCode {
    if let Ok(wanted) = std::env::var(CASE) {
        let (_, case) =
            CASES.iter().chain(PARTS).find(|(name, _)| *name == wanted).expect("a case");
        case();
        return ExitCode::SUCCESS;
    }
    let (flags, filters): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|word| word.starts_with('-'));
    if flags.iter().any(|flag| flag == "--list") {
        CASES.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let probed = part("probe").output().expect("this program runs");
    if probed.status.code() == Some(SKIPPED.into()) {
        let reason = String::from_utf8_lossy(&probed.stderr).trim().to_owned();
        println!("skipped: {reason}");
        let required = std::env::var("PENSTOCK_REQUIRE_NAMESPACES").is_ok_and(|value| value == "1");
        return if required { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    let chosen = |name: &str| filters.is_empty() || filters.iter().any(|part| name.contains(part));
    let mut failed = 0;
    for (name, _) in CASES.iter().filter(|(name, _)| chosen(name)) {
        let begun = Instant::now();
        let output = part(name).output().expect("this program runs");
        let seconds = begun.elapsed().as_secs_f64();
        if output.status.success() {
            println!("{name} ... ok ({seconds:.1} s)");
        } else {
            failed += 1;
            println!("{name} ... FAILED: {}", output.status);
            println!("{}", String::from_utf8_lossy(&output.stderr));
        }
        print!("{}", String::from_utf8_lossy(&output.stdout));
    }
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// This program, for one case or part.
fn part(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.env(CASE, name);
    command
}

/// Settings that the kernel or we refuse: each is an error that names the host, and nothing panics.
fn refused() {
    let namespaces = enter().expect("the probe has entered too");
    let good = network::kernel_host(1, 2, &[4, 6]);
    let change = |change: fn(&mut HostSettings)| {
        let mut settings = good.clone();
        change(&mut settings);
        let message = namespaces.host(&settings).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains("host h1"), "{message}");
    };
    change(|settings| settings.mtu = 67);
    change(|settings| settings.mtu = 65_522);
    change(|settings| settings.mtu = u32::MAX);
    change(|settings| settings.queue_frames = 0);
    change(|settings| settings.queue_frames = u32::MAX);
    change(|settings| settings.mac = [1, 0, 0, 0, 0, 1]);
    change(|settings| settings.mac = [0; 6]);
    change(|settings| network::kernel(settings).addresses.push(network::ip(1, 4)));
    change(|settings| network::kernel(settings).addresses.push([224, 0, 0, 1].into()));
    change(|settings| network::kernel(settings).neighbours.push((network::ip(2, 6), [2; 6])));
    // A name is for messages, and may be anything.
    let names = ["", "h/1", "zero\0byte", "a name that is longer than the kernel's sixteen bytes"];
    for name in names {
        let settings = HostSettings { name: name.to_owned(), ..good.clone() };
        namespaces.host(&settings).unwrap_or_else(|error| panic!("{name:?}: {error}"));
    }
}

/// Tells the harness whether this system lets the cases run.
fn probe() {
    match enter() {
        Ok(_) => {}
        Err(refused @ (NamespaceError::Forbidden { .. } | NamespaceError::Tun { .. })) => {
            eprintln!("{refused}");
            std::process::exit(SKIPPED.into());
        }
        Err(other) => panic!("{other}"),
    }
}
