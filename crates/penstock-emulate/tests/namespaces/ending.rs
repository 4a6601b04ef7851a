//! How a worker ends, and what it leaves: nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use penstock_emulate::namespace::{HostSettings, Stack, enter};
use rustix::process::{Pid, Signal, kill_process};

use crate::network::kernel_host;
use crate::part;
use crate::privileges::silent_program;

/// The variable by which the processes of one case are found in `/proc`.
const MARK: &str = "PENSTOCK_NAMESPACE_MARK";

/// Hosts of the worker that is killed.
const HOSTS: u8 = 8;

/// How often it is killed.
const KILLS: u32 = 20;

/// A part that is found again by its mark.
fn marked(name: &str) -> (Command, String) {
    let mark = format!("{name}-{}-{:?}", std::process::id(), Instant::now());
    let mut command = part(name);
    command.env(MARK, &mark).stdout(Stdio::piped());
    (command, mark)
}

/// All processes that have a mark.
fn processes(mark: &str) -> Vec<Pid> {
    let wanted = format!("{MARK}={mark}");
    let numbers = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers
        .filter(|number: &i32| {
            let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
        })
        .filter_map(Pid::from_raw)
        .collect()
}

/// The network namespaces of all threads of these processes.
fn networks(of: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for process in of {
        let Ok(tasks) = fs::read_dir(Path::new("/proc").join(process).join("task")) else {
            continue;
        };
        for task in tasks.filter_map(Result::ok) {
            let link = fs::read_link(task.path().join("ns/net"));
            found.extend(link.ok().and_then(|link| link.to_str().map(str::to_owned)));
        }
    }
    found
}

/// The names of all processes of `/proc`.
fn everybody() -> Vec<String> {
    let entries = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    entries.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

/// The interfaces of this network namespace.
fn interfaces() -> String {
    let text = fs::read_to_string("/proc/net/dev").unwrap();
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name.trim())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Waits for something that comes soon.
fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let tries = (0..4_000).find(|_| {
        let found = done();
        if !found {
            std::thread::sleep(Duration::from_millis(5));
        }
        found
    });
    assert!(tries.is_some(), "{what}");
}

/// The first line that a part prints: it has come so far.
fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line
}

pub fn exit_codes() {
    for (end, code) in [("0", 0), ("7", 7), ("panic", 101), ("abort", 128 + 6), ("kill", 128 + 9)] {
        let output = part("exit_code").env("END", end).output().unwrap();
        assert_eq!((output.status.code(), output.status.signal()), (Some(code), None), "{end}");
        let flushed = if code < 128 { "written before the fork" } else { "" };
        assert_eq!(String::from_utf8_lossy(&output.stdout), flushed, "{end}: once, by the worker");
    }
}

pub fn part_exit_code() {
    print!("written before the fork");
    let _namespaces = enter().unwrap();
    // A grandchild whose parent ends at once: PID 1 reaps it, and nobody takes its code for the
    // worker's.
    Command::new("/bin/sh").args(["-c", "(sleep 0.01; exit 9) & exit 5"]).status().unwrap();
    std::thread::sleep(Duration::from_millis(30));
    match std::env::var("END").unwrap().as_str() {
        "panic" => panic!("as it was asked to"),
        "abort" => std::process::abort(),
        "kill" => kill_process(rustix::process::getpid(), Signal::KILL).unwrap(),
        code => std::process::exit(code.parse().unwrap()),
    }
}

pub fn signals() {
    let (mut command, mark) = marked("wait_for_signal");
    let mut child = command.spawn().unwrap();
    assert_eq!(first_line(&mut child), "ready\n");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(
        child.wait().unwrap().code(),
        Some(128 + 15),
        "the worker has no handler, and ended of it"
    );
    wait_until("all processes end", || processes(&mark).is_empty());
}

pub fn part_wait_for_signal() {
    let _namespaces = enter().unwrap();
    println!("ready");
    loop {
        std::thread::park();
    }
}

pub fn starter_is_gone() {
    let (mut command, mark) = marked("starter");
    let mut child = command.spawn().unwrap();
    assert_eq!(first_line(&mut child), "ready\n");
    assert_eq!(processes(&mark).len(), 4, "the starter, the caller, PID 1, the worker");
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    wait_until("all processes end", || processes(&mark).is_empty());
}

/// Starts a worker from a thread that ends: not a thread, but the process must be gone for the
/// worker to end.
pub fn part_starter() {
    let start = || part("wait_for_signal").stdout(Stdio::piped()).spawn().unwrap();
    let mut worker = std::thread::spawn(start).join().unwrap();
    let line = first_line(&mut worker);
    std::thread::sleep(Duration::from_millis(50));
    assert!(worker.try_wait().unwrap().is_none());
    print!("{line}");
    std::io::stdout().flush().unwrap();
    worker.wait().unwrap();
}

pub fn killed() {
    let (devices_before, mounts_before) =
        (interfaces(), fs::read_to_string("/proc/mounts").unwrap());
    // How long a worker takes until it is ready, measured once.
    let begun = Instant::now();
    let (mut command, mark) = marked("busy_worker");
    let mut child = command.spawn().unwrap();
    assert_eq!(first_line(&mut child), "ready\n");
    let set_up = begun.elapsed();
    // A program has no environment for a moment while it starts, so it may be seen late.
    wait_until("the caller, PID 1, the worker and two programs are seen", || {
        processes(&mark).len() == 5
    });
    let found = processes(&mark);
    let seen = networks(found.iter().map(|pid| pid.as_raw_nonzero().to_string()));
    assert_eq!(
        seen.len(),
        usize::from(HOSTS) + 1,
        "one for each host, one for the worker: {seen:?}"
    );
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let mut all_seen = seen;
    // A linear congruential generator (Knuth's MMIX) is random enough for moments.
    let mut random = u64::from(std::process::id());
    for kill in 0..KILLS {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (random >> 40) as f64 / (1u64 << 24) as f64;
        let (mut command, mark) = marked("busy_worker");
        let mut child = command.spawn().unwrap();
        // Every other kill comes in the time that the set-up took before, the others after it.
        if kill % 2 == 1 {
            assert_eq!(first_line(&mut child), "ready\n");
        }
        std::thread::sleep(set_up.mul_f64(share));
        let alive = processes(&mark);
        all_seen.extend(networks(alive.iter().map(|pid| pid.as_raw_nonzero().to_string())));
        // Each of the three is killed in turn, where it exists already: the caller, PID 1, the
        // worker.
        let victim = alive.get(kill as usize % 3).copied().unwrap_or(Pid::from_child(&child));
        // It may have ended: a program, when PID 1 was late.
        let _ = kill_process(victim, Signal::KILL);
        assert!(!child.wait().unwrap().success());
        wait_until("all processes end", || processes(&mark).is_empty());
    }
    all_seen.remove(fs::read_link("/proc/self/ns/net").unwrap().to_str().unwrap());
    wait_until("no process holds a namespace", || networks(everybody()).is_disjoint(&all_seen));
    assert_eq!(interfaces(), devices_before);
    assert_eq!(fs::read_to_string("/proc/mounts").unwrap(), mounts_before);
}

pub fn part_busy_worker() {
    let namespaces = enter().unwrap();
    let host = |number| {
        let settings = kernel_host(number, HOSTS, &[4, 6]);
        let stack = if number % 2 == 0 { Stack::Packets } else { settings.stack };
        namespaces.host(&HostSettings { stack, ..settings }).unwrap()
    };
    let hosts: Vec<_> = (1..=HOSTS).map(host).collect();
    let sockets: Vec<_> =
        hosts.iter().skip(1).step_by(2).map(|(host, _)| host.packet_socket().unwrap()).collect();
    namespaces.drop_privileges(hosts.iter().map(|(host, _)| host)).unwrap();
    // The second program leaves its group and its session: only the PID namespace can end it.
    let programs = [("sleep", &["1000"][..]), ("setsid", &["sleep", "1000"])]
        .map(|(program, arguments)| hosts[0].0.spawn(silent_program(program, arguments)).unwrap());
    // A leader of a group cannot leave it: `setsid` starts another process that can, and ends.
    assert!(programs[1].wait(Duration::from_secs(60)).unwrap().is_some());
    println!("ready");
    loop {
        for socket in &sockets {
            socket.send(&[0; 60]).unwrap();
        }
        for (_, device) in &hosts {
            while device.receive(&mut [0; 2_000]).unwrap().is_some() {}
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
