//! The behaviour of whole simulations.

mod afq;
mod allocation;
mod architecture;
mod bottleneck;
mod convergence;
mod credit;
mod deadlock;
mod determinism;
mod fairness;
mod fault;
mod fixture;
mod homa;
mod incast;
mod invariant;
mod loss;
mod measurement;
mod outage;
mod pause;
mod pause_threshold;
mod queue_target;
mod queueing;
mod rates;
mod shortest_remaining;
mod single_flow;
mod swift;
mod timed_pause;
