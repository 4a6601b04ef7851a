//! Capabilities, before and after they are dropped.

use std::fs::File;
use std::process::Command;
use std::sync::mpsc::channel;

use penstock_emulate::namespace::{NamespaceError, ProgramSettings, enter};

use crate::network::{hosts, kernel_host};

/// A program without arguments whose output nobody reads.
pub fn silent_program(program: &str, arguments: &[&str]) -> ProgramSettings {
    let nowhere = || File::options().write(true).open("/dev/null").unwrap();
    ProgramSettings {
        program: program.into(),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: Vec::new(),
        directory: None,
        output: nowhere(),
        errors: nowhere(),
    }
}

pub fn are_gone() {
    let (namespaces, [(one, _device)]) = hosts([kernel_host(1, 1, &[4])]);
    let write = || std::fs::write("/proc/sys/net/ipv4/conf/eth0/forwarding", "0");
    one.run(write).expect("a capability allows it");
    namespaces.drop_privileges([&one]).unwrap();
    let bare = || {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let lines =
            status.lines().filter(|line| line.starts_with("Cap") || line.starts_with("NoNewPrivs"));
        let values: Vec<u64> = lines
            .map(|line| u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap())
            .collect();
        assert_eq!(values, [0, 0, 0, 0, 0, 1]);
        // Nothing is left to lock up with: no mount, no other namespace.
        assert!(
            rustix::mount::mount("none", "/tmp", "tmpfs", rustix::mount::MountFlags::empty(), None)
                .is_err()
        );
        let own = File::open("/proc/thread-self/ns/net").unwrap();
        use std::os::fd::AsFd;
        assert!(rustix::thread::move_into_link_name_space(own.as_fd(), None).is_err());
    };
    one.run(bare);
    one.thread("later", bare).unwrap().join().unwrap();
    bare();
}

pub fn a_forgotten_thread() {
    let (namespaces, [(one, _first), (two, _second)]) =
        hosts([kernel_host(1, 2, &[4]), kernel_host(2, 2, &[4])]);
    let (end, ended) = channel::<()>();
    let (begin, begun) = channel();
    let work = move || {
        begin.send(()).unwrap();
        ended.recv()
    };
    let thread = std::thread::Builder::new().name("forgotten".into()).spawn(work).unwrap();
    begun.recv().unwrap();
    let refused = namespaces.drop_privileges([&one]).unwrap_err();
    let NamespaceError::StillPrivileged { threads } = &refused else { panic!("{refused}") };
    assert!(
        threads.contains("forgotten") && threads.contains("h2") && !threads.contains("h1"),
        "{threads}"
    );
    drop((end, two));
    let _ = thread.join();
}

pub fn programs_come_later() {
    let (namespaces, [(one, _device)]) = hosts([kernel_host(1, 1, &[4])]);
    assert!(matches!(one.spawn(silent_program("true", &[])), Err(NamespaceError::NotYetDropped)));
    namespaces.drop_privileges([&one]).unwrap();
    one.spawn(silent_program("true", &[])).unwrap();
    let missing = one.spawn(silent_program("/no/such/program", &[])).unwrap_err().to_string();
    assert!(missing.contains("/no/such/program on host h1"), "{missing}");
}

pub fn limit_of_zero() {
    let _outer = enter().unwrap();
    // The limit of this user namespace, and so of nobody else.
    std::fs::write("/proc/sys/user/max_user_namespaces", "0").unwrap();
    let refused = enter().unwrap_err();
    assert!(matches!(refused, NamespaceError::Forbidden { .. }), "{refused}");
    let message = refused.to_string();
    assert!(
        message.contains("limit on user namespaces is 0") && message.contains("sysctl -w"),
        "{message}"
    );
    // The refusal leaves the process as it was: it can start others.
    assert!(Command::new("true").status().unwrap().success());
}
