//! Where values come from that more than one file names: the `source` of a field's default.

/// What specifies DCQCN, at hosts and as NVIDIA builds it.
pub const DCQCN_PAPER: &str = "DCQCN paper (Zhu et al., SIGCOMM 2015)";

/// Where ExpressPass's numbers come from, at hosts and at switches; the paper itself was not at hand.
pub const EXPRESSPASS_SIMULATOR: &str = "ExpressPass authors' simulator (kaist-ina/ns2-xpass)";

/// What specifies Homa; it was not at hand.
pub const HOMA_PAPER: &str = "Homa paper (Montazeri et al., SIGCOMM 2018), quoted from memory";

/// The simulator of HPCC's authors, whose numbers papers leave out that are built on it.
pub const HPCC_SIMULATOR: &str =
    "ns-3 HPCC simulator (alibaba-edu/High-Precision-Congestion-Control)";

/// The fork of it with which BFC was evaluated.
pub const BFC_SIMULATOR: &str =
    "BFC authors' simulator (preeyshah/High-Precision-Congestion-Control)";

/// The network of BFC's evaluation, whose links our smaller networks have, too.
pub const LINKS_OF_BFC: &str = "our choice: the links of BFC 6.2.1";

/// The network of PCN's evaluation.
pub const PCN_NETWORK: &str = "PCN 7.4";

/// Traffic without a start and an end of its own.
pub const WHOLE_DURATION: &str = "our choice: the whole duration";

/// Traffic without a priority of its own.
pub const NO_PRIORITIES: &str = "our choice: no priorities";

/// Faults that a scenario does not ask for.
pub const NO_FAULTS: &str = "our choice: no faults";

/// What a scenario's table takes its defaults from.
pub const ITS_FIELDS: &str = "see its fields";
