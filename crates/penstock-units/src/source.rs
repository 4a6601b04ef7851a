//! Sources of defaults that more than one file names: the `source` of a field's default.

/// The specification of DCQCN, at hosts and as NVIDIA builds it. The paper itself was not at hand: a
/// number has a second source, which was opened.
pub const DCQCN_PAPER: &str = "DCQCN paper (Zhu et al., SIGCOMM 2015)";

/// The source of ExpressPass's numbers, at hosts and at switches; the paper itself was not at hand.
pub const EXPRESSPASS_SIMULATOR: &str = "ExpressPass authors' simulator (kaist-ina/ns2-xpass)";

/// The simulator of HPCC's authors. Papers built on it leave out numbers that the simulator has.
pub const HPCC_SIMULATOR: &str =
    "ns-3 HPCC simulator (alibaba-edu/High-Precision-Congestion-Control)";

/// The fork of HPCC's simulator with which BFC was evaluated.
pub const BFC_SIMULATOR: &str =
    "BFC authors' simulator (preeyshah/High-Precision-Congestion-Control)";

/// The network of BFC's evaluation. Our smaller networks have the same links.
pub const LINKS_OF_BFC: &str = "our choice: the links of BFC 6.2.1";

/// The network of PCN's evaluation.
pub const PCN_NETWORK: &str = "PCN 7.4";

/// Traffic without a start and an end of its own.
pub const WHOLE_DURATION: &str = "our choice: the whole duration";

/// Traffic without a priority of its own.
pub const NO_PRIORITIES: &str = "our choice: no priorities";

/// Faults that a scenario does not ask for.
pub const NO_FAULTS: &str = "our choice: no faults";

/// The source of the defaults in a table of a scenario.
pub const ITS_FIELDS: &str = "see its fields";
