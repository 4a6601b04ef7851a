//! Programs in namespaces.

use std::fs::File;
use std::io::{Read, Seek};
use std::time::Duration;

use penstock_emulate::namespace::{HostNamespace, ProgramEnd, ProgramSettings, TapDevice};

use crate::network::{hosts, kernel_host};
use crate::privileges::silent_program;

/// A time that is never reached where the code is right.
const LONG: Duration = Duration::from_secs(60);

/// A host on which programs can be started.
fn host() -> (HostNamespace, TapDevice) {
    let (namespaces, [(one, device)]) = hosts([kernel_host(1, 1, &[4])]);
    namespaces.drop_privileges([&one]).unwrap();
    (one, device)
}

/// A file in memory.
fn file() -> File {
    rustix::fs::memfd_create("output", rustix::fs::MemfdFlags::CLOEXEC).unwrap().into()
}

/// A shell with this script, and the files of its output and its errors.
fn shell(script: &str) -> (ProgramSettings, File, File) {
    let (output, errors) = (file(), file());
    let settings = ProgramSettings {
        output: output.try_clone().unwrap(),
        errors: errors.try_clone().unwrap(),
        environment: vec![("FLOWS".into(), "12".into())],
        directory: Some("/".into()),
        ..silent_program("/bin/sh", &["-c", script])
    };
    (settings, output, errors)
}

/// What a file holds.
fn text(mut file: File) -> String {
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

pub fn are_watched() {
    let (one, _device) = host();
    let (settings, output, errors) = shell("cat; echo $FLOWS $PWD $$; echo sorry >&2; exit 3");
    let program = one.spawn(settings).unwrap();
    let id = program.id();
    assert_eq!(program.wait(LONG).unwrap(), Some(ProgramEnd::Code(3)));
    assert_eq!(
        program.ended().unwrap(),
        Some(ProgramEnd::Code(3)),
        "the end can be asked for again"
    );
    assert_eq!(program.end(LONG).unwrap(), ProgramEnd::Code(3));
    assert_eq!((text(output), text(errors)), (format!("12 / {id}\n"), "sorry\n".to_owned()));
    let sleeper = one.spawn(silent_program("sleep", &["1000"])).unwrap();
    assert_eq!(sleeper.ended().unwrap(), None);
    assert_eq!(sleeper.wait(Duration::from_millis(20)).unwrap(), None);
    assert!(sleeper.ask_to_end().unwrap());
    assert_eq!(sleeper.end(LONG).unwrap(), ProgramEnd::Signal(15));
}

pub fn stubborn_group() {
    let (one, _device) = host();
    // The shell ends when it is asked to; its child does not.
    let (settings, output, _) = shell("(trap '' TERM; echo ready; exec sleep 1000) & wait");
    let program = one.spawn(settings).unwrap();
    while text(output.try_clone().unwrap()).is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    program.ask_to_end().unwrap();
    assert_eq!(program.end(LONG).unwrap(), ProgramEnd::Signal(15));
    wait_until_nobody("sleep");
    // A program that does not listen is killed after its time of grace.
    let (settings, output, _) = shell("trap '' TERM; echo ready; while :; do sleep 1000; done");
    let program = one.spawn(settings).unwrap();
    while text(output.try_clone().unwrap()).is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    program.ask_to_end().unwrap();
    assert_eq!(program.end(Duration::from_millis(50)).unwrap(), ProgramEnd::Signal(9));
    wait_until_nobody("sleep");
    // A value that is dropped takes its program along.
    drop(one.spawn(silent_program("sleep", &["1000"])).unwrap());
    wait_until_nobody("sleep");
}

/// Waits until no process of the PID namespace has this name.
fn wait_until_nobody(name: &str) {
    let alive = || {
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        processes
            .filter_map(|process| std::fs::read_to_string(process.path().join("comm")).ok())
            .any(|comm| comm.trim() == name)
    };
    let tries = (0..1_000).find(|_| {
        std::thread::sleep(Duration::from_millis(5));
        !alive()
    });
    assert!(tries.is_some(), "{name} lives on");
}

pub fn have_no_capabilities() {
    let (one, _device) = host();
    let script = "grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status; id -u";
    let (settings, output, errors) = shell(script);
    let program = one.spawn(settings).unwrap();
    assert_eq!(program.wait(LONG).unwrap(), Some(ProgramEnd::Code(0)), "{}", text(errors));
    let text = text(output);
    let values: Vec<&str> = text.lines().map(|line| line.rsplit('\t').next().unwrap()).collect();
    let none = "0000000000000000";
    assert_eq!(values[..], [none, none, none, none, "1", "0"], "{text}");
}
