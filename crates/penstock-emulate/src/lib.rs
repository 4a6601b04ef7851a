//! The emulator: the switches and hosts of the simulator, in real time, among the real hosts of
//! Linux.

#![cfg(target_os = "linux")]

pub mod namespace;
mod system;
