//! Where values come from that more than one file names: the `source` of a field's default.

/// The simulator of HPCC's authors, whose numbers papers leave out that are built on it.
pub const HPCC_SIMULATOR: &str =
    "ns-3 HPCC simulator (alibaba-edu/High-Precision-Congestion-Control)";

/// The fork of it with which BFC was evaluated.
pub const BFC_SIMULATOR: &str =
    "BFC authors' simulator (preeyshah/High-Precision-Congestion-Control)";
