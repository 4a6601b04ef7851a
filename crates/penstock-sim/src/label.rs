//! Names that people give, and what tables and figures can show of them.

use penstock_units::Problems;

/// The longest name of a scenario, a scheme or traffic (characters; our choice: longer names fit
/// neither a table nor a figure).
pub(crate) const LONGEST_LABEL: usize = 200;

/// Refuses the name `label` at `field` when it fits neither a table nor a figure.
pub(crate) fn check_label(field: &str, label: &str, problems: &mut Problems) {
    let is_shown = !label.chars().any(char::is_control);
    let count = label.chars().count();
    let remedy = format!(
        "it is no name for a table or figure; write 1 to {LONGEST_LABEL} characters, none of them a control \
         character"
    );
    let holds = is_shown && (1..=LONGEST_LABEL).contains(&count);
    problems.unless(holds, field, format!("{label:?}"), remedy);
}
