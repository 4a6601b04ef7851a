//! Where values come from that more than one file names: the `source` of a field's default.

/// The simulator of HPCC's authors, whose numbers papers leave out that are built on it.
pub const HPCC_SIMULATOR: &str =
    "ns-3 HPCC simulator (alibaba-edu/High-Precision-Congestion-Control)";

/// The fork of it with which BFC was evaluated.
pub const BFC_SIMULATOR: &str =
    "BFC authors' simulator (preeyshah/High-Precision-Congestion-Control)";

/// What specifies DCQCN, at hosts and as NVIDIA builds it.
pub const DCQCN_PAPER: &str = "DCQCN paper (Zhu et al., SIGCOMM 2015)";

/// What specifies Homa; it was not at hand.
pub const HOMA_PAPER: &str = "Homa paper (Montazeri et al., SIGCOMM 2018), quoted from memory";

/// Where ExpressPass's numbers come from, at hosts and at switches; the paper itself was not at hand.
pub const EXPRESSPASS_SIMULATOR: &str = "ExpressPass authors' simulator (kaist-ina/ns2-xpass)";
