//! Settings of TCP/IP in the network namespace of the calling thread: files below `/proc/sys/net`.
//!
//! The kernel shows each thread the files of its own namespace.

use std::fs;

use rustix::io::Errno;

use super::error::{Doing, NamespaceError};
use super::settings::{Ecn, KernelStack};

/// Where the files are.
const ROOT: &str = "/proc/sys/net";

/// Settings of each kernel host.
const KERNEL_HOST: [(&str, &str); 3] = [
    // Our choice: a connection must not start with what an earlier one has learned (round-trip
    // time, threshold).
    ("ipv4/tcp_no_metrics_save", "1"),
    // Programs have no capabilities, and a web server listens on port 80, and ping sends echo
    // requests.
    ("ipv4/ip_unprivileged_port_start", "0"),
    ("ipv4/ping_group_range", "0 0"),
];

/// Settings of interfaces that are made later: only the addresses that are given, and no search for
/// routers.
const QUIET_IPV6: [(&str, &str); 6] = [
    ("ipv6/conf/default/accept_dad", "0"),
    ("ipv6/conf/default/dad_transmits", "0"),
    ("ipv6/conf/default/accept_ra", "0"),
    ("ipv6/conf/default/autoconf", "0"),
    ("ipv6/conf/default/router_solicitations", "0"),
    // No link-local address that nobody has given (ip-sysctl.rst, addr_gen_mode).
    ("ipv6/conf/default/addr_gen_mode", "1"),
];

/// Writes a setting.
fn write(name: &str, value: &str) -> Result<(), NamespaceError> {
    fs::write(format!("{ROOT}/{name}"), value)
        .doing(|| format!("write {value:?} into {ROOT}/{name}"))
}

/// The words of a setting.
fn words(name: &str) -> Result<Vec<String>, NamespaceError> {
    let text =
        fs::read_to_string(format!("{ROOT}/{name}")).doing(|| format!("read {ROOT}/{name}"))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// Before an interface is made: what its IPv6 does on its own. `wanted`: whether it has IPv6 at
/// all.
pub(super) fn quieten_ipv6(wanted: bool) -> Result<(), NamespaceError> {
    if wanted {
        return QUIET_IPV6.into_iter().try_for_each(|(name, value)| write(name, value));
    }
    if !fs::exists(format!("{ROOT}/ipv6")).unwrap_or(false) {
        return Ok(()); // A kernel without IPv6.
    }
    write("ipv6/conf/default/disable_ipv6", "1")
}

/// Sets TCP, and returns the congestion control that must be a property of the routes, if any.
///
/// # Errors
///
/// The kernel lacks a congestion control, or keeps it from programs that should choose it.
pub(super) fn set_tcp<'a>(
    host: &str,
    stack: &'a KernelStack,
) -> Result<Option<&'a str>, NamespaceError> {
    for (name, value) in KERNEL_HOST {
        write(name, value)?;
    }
    write(
        "ipv4/tcp_ecn",
        match stack.ecn {
            Ecn::Off => "0",
            Ecn::On => "1",
            Ecn::Granted => "2",
        },
    )?;
    let available = words("ipv4/tcp_available_congestion_control")?;
    let allowed = words("ipv4/tcp_allowed_congestion_control")?;
    check_congestion_controls(host, stack, &available, &allowed)?;
    let Some(name) = stack.congestion_control.as_deref() else { return Ok(None) };
    match fs::write(format!("{ROOT}/ipv4/tcp_congestion_control"), name) {
        Ok(()) => Ok(None),
        // Linux lets only the first network namespace have a default that not every program may
        // choose.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::PERM) => Ok(Some(name)),
        Err(error) => {
            Err(error).doing(|| format!("make {name} the congestion control of host {host}"))
        }
    }
}

/// Refuses congestion controls that this kernel lacks, or keeps from programs that should choose
/// them.
fn check_congestion_controls(
    host: &str,
    stack: &KernelStack,
    available: &[String],
    allowed: &[String],
) -> Result<(), NamespaceError> {
    for name in stack.congestion_control.iter().chain(&stack.chosen_by_programs) {
        if !available.contains(name) {
            return Err(NamespaceError::UnknownCongestionControl {
                host: host.to_owned(),
                name: name.clone(),
                available: available.join(" "),
            });
        }
    }
    match stack.chosen_by_programs.iter().find(|name| !allowed.contains(name)) {
        None => Ok(()),
        Some(name) => Err(NamespaceError::CongestionControlNotAllowed {
            host: host.to_owned(),
            name: name.clone(),
            allowed: allowed.join(" "),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(default: Option<&str>, chosen: &[&str]) -> Result<(), NamespaceError> {
        let stack = KernelStack {
            congestion_control: default.map(str::to_owned),
            chosen_by_programs: chosen.iter().map(|name| name.to_string()).collect(),
            ..KernelStack::default()
        };
        let kernel = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        check_congestion_controls(
            "h3",
            &stack,
            &kernel(&["reno", "bbr", "cubic"]),
            &kernel(&["reno", "bbr"]),
        )
    }

    #[test]
    fn what_the_kernel_lacks_is_refused_by_name_with_what_it_has() {
        for refused in [check(Some("dctcp"), &[]), check(None, &["reno", "dctcp"])] {
            let message = refused.unwrap_err().to_string();
            assert!(message.contains("h3") && message.contains("\"dctcp\""), "{message}");
            assert!(message.contains("reno bbr cubic"), "{message}");
        }
    }

    #[test]
    fn what_programs_may_not_choose_can_be_a_default_but_no_choice() {
        assert!(check(Some("cubic"), &["bbr"]).is_ok());
        let message = check(Some("cubic"), &["cubic"]).unwrap_err().to_string();
        assert!(message.contains("tcp_allowed_congestion_control=\"reno bbr cubic\""), "{message}");
    }
}
