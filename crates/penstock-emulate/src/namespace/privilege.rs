//! The capabilities of threads: who has some, and the way out of them.

use std::fs;
use std::io;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capability_is_in_bounding_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

/// Capabilities that are asked about: those that the kernel may name, one for each bit
/// (capabilities(7)).
const CAPABILITY_BITS: u32 = u64::BITS;

/// Drops all capabilities of the calling thread.
pub(super) fn drop_capabilities() -> io::Result<()> {
    for capability in (0..CAPABILITY_BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit)) {
        // The kernel has no more capabilities than it answers for.
        match capability_is_in_bounding_set(capability) {
            Ok(true) => remove_capability_from_bounding_set(capability)?,
            Ok(false) => {}
            Err(_) => break,
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    set_no_new_privs(true)?;
    Ok(())
}

/// Whether the calling thread has capabilities, or could get some.
pub(super) fn is_privileged() -> io::Result<bool> {
    Ok(holds_capabilities(&fs::read_to_string("/proc/thread-self/status")?))
}

/// The names of the threads of this process that have capabilities, or could get some.
pub(super) fn privileged_threads() -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for task in fs::read_dir("/proc/self/task")? {
        match fs::read_to_string(task?.path().join("status")) {
            Ok(status) if holds_capabilities(&status) => {
                names.push(field(&status, "Name").to_owned())
            }
            Ok(_) => {}
            // The thread has ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(names)
}

/// Whether a thread of this status (proc_pid_status(5)) has capabilities, or could get some.
fn holds_capabilities(status: &str) -> bool {
    let some = |name| field(status, name).chars().any(|digit| digit != '0');
    ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].into_iter().any(some)
        || field(status, "NoNewPrivs") != "1"
}

/// A field of a status; empty where the status lacks it.
fn field<'a>(status: &'a str, name: &str) -> &'a str {
    status
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find_map(|(field, value)| (field == name).then(|| value.trim()))
        .unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str = "Name:\thost-1\nCapInh:\t0000\nCapPrm:\t0000\nCapEff:\t0000\n\
                        CapBnd:\t0000\nCapAmb:\t0000\n\
                        NoNewPrivs:\t1\n";

    #[test]
    fn each_capability_set_and_the_missing_promise_are_seen() {
        assert!(!holds_capabilities(BARE));
        for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            assert!(
                holds_capabilities(
                    &BARE.replace(&format!("{set}:\t0000"), &format!("{set}:\t0010"))
                ),
                "{set}"
            );
        }
        assert!(holds_capabilities(&BARE.replace("NoNewPrivs:\t1", "NoNewPrivs:\t0")));
        assert!(holds_capabilities(""), "a status that says nothing promises nothing");
    }
}
