//! Real frames: the switches, links and hosts of a scenario in real time, with devices at the edge.
//!
//! What it is: a driver of the parts of a network ([`penstock_sim::live`]) by the machine's clock. What
//! it is not: this crate makes no decision about a packet, and has no rule of any scheme.
//! Invariant: what happens inside a part follows from the packets that have entered it and their times.
//!
//! Reading order: [`clock`], [`device`] (what frames come from and go to), [`refusal`] (what is not let in),
//! [`port`] (frames and packets at the edge), `inbox` (many frames read at once), [`drive`] (the loop),
//! [`nic`] (of hosts with kernels), [`assemble`] (from a scenario to the drives of a run), [`record`] (what
//! entered, again), [`capture`] (all frames in a file), [`glance`] (what can be seen while a run goes on),
//! [`namespace`] (where hosts live), [`config`] and [`run`] (a run from beginning to end), [`outcome`].

pub mod assemble;
mod capacity;
pub mod capture;
pub mod clock;
pub mod config;
mod controls;
pub mod device;
pub mod drive;
pub mod error;
pub mod glance;
mod hosts;
mod inbox;
mod load;
pub mod missed;
pub mod namespace;
pub mod nic;
pub mod outcome;
pub mod port;
pub mod processors;
pub mod programs;
pub mod record;
pub mod refusal;
pub mod run;
mod system;
