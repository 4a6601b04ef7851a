//! The behaviour of whole simulations.

mod allocation;
mod architecture;
mod determinism;
mod fairness;
mod fault;
mod fixture;
mod incast;
mod invariant;
mod loss;
mod measurement;
mod pause_threshold;
mod queueing;
mod rates;
mod single_flow;
mod swift;
