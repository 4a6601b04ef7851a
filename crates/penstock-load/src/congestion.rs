//! Congestion controls: those that the kernel has, and a refusal of those that it lacks.

use std::fs;
use std::net::SocketAddr;

use socket2::{Domain, Protocol, Socket, Type};

use crate::error::LoadError;
use crate::flow::LoadFlow;

/// Where the kernel lists the congestion controls that it has (Documentation/networking/ip-sysctl.rst).
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The congestion controls that the kernel has, as it lists them.
///
/// # Errors
/// When the kernel's list cannot be read.
pub fn available_congestion_controls() -> Result<Vec<String>, LoadError> {
    let listed = fs::read_to_string(AVAILABLE).map_err(LoadError::system(AVAILABLE))?;
    Ok(listed.split_whitespace().map(str::to_owned).collect())
}

/// Checks that the kernel has the congestion controls of `flows`, and lets this thread use them. Sends
/// nothing.
///
/// # Errors
/// The first congestion control that the kernel lacks or keeps for administrators, by its name.
pub fn check_congestion(flows: &[LoadFlow]) -> Result<(), LoadError> {
    let named = |flow: &LoadFlow| Some((flow.congestion()?.to_owned(), flow.destination));
    let mut asked: Vec<(String, SocketAddr)> = flows.iter().filter_map(named).collect();
    asked.sort();
    asked.dedup_by(|one, other| one.0 == other.0);
    if asked.is_empty() {
        return Ok(());
    }
    let available = available_congestion_controls()?;
    for (name, destination) in asked {
        if !available.contains(&name) {
            return Err(LoadError::UnknownCongestion { name, available });
        }
        let socket =
            Socket::new(Domain::for_address(destination), Type::STREAM, Some(Protocol::TCP))
                .map_err(LoadError::system("socket"))?;
        if socket.set_tcp_congestion(name.as_bytes()).is_err() {
            return Err(LoadError::ForbiddenCongestion { name });
        }
    }
    Ok(())
}
