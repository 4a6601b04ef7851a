//! The problems of a configuration: every field with an unusable value, by its path.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Display};
use core::mem;

use crate::Time;

/// How many problems are kept (our choice: twice as many as Penstock shows). A list of a million
/// flows may have a million problems.
const KEPT: usize = 100;

/// A field whose value cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field's path in the scenario, e.g. `scheme.host.controller.gain`.
    pub path: String,
    /// The value that was given.
    pub value: String,
    /// What would be right.
    pub remedy: String,
}

impl Problem {
    /// The `value` of the field at `path` cannot be used; `remedy` says what would be right.
    pub fn new(path: impl Display, value: impl Display, remedy: impl Display) -> Self {
        let [path, value, remedy] = [path.to_string(), value.to_string(), remedy.to_string()];
        Problem { path, value, remedy }
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { path, value, remedy } = self;
        write!(f, "{path} is {value}; {remedy}")
    }
}

/// The problems that checks have found, in the order of the checks; the first 100 are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    table: String,
    found: Vec<Problem>,
}

impl Problems {
    /// No problems yet. Fields are named by their path below `table`.
    pub fn below(table: &str) -> Self {
        Problems { table: table.to_owned(), found: Vec::new() }
    }

    /// Runs the checks of the table `field` of this table. These checks see all problems found so
    /// far.
    pub fn within(&mut self, field: &str, check: impl FnOnce(&mut Problems)) {
        let inner = self.path(field);
        let outer = mem::replace(&mut self.table, inner);
        check(self);
        self.table = outer;
    }

    /// Refuses `value` of `field` unless its bound `holds`; `remedy` says what would be right.
    pub fn unless(&mut self, holds: bool, field: &str, value: impl Display, remedy: impl Display) {
        if !holds {
            self.add(Problem::new(self.path(field), value, remedy));
        }
    }

    /// Refuses a period of `field` that is shorter than [`Time::LEAST_PERIOD`]; 0 means never.
    pub fn unless_period_or_never(&mut self, field: &str, period: Time) {
        let holds = period == Time::ZERO || period >= Time::LEAST_PERIOD;
        let remedy = format!("write {} or more, or 0 for never", Time::LEAST_PERIOD);
        self.unless(holds, field, period, remedy);
    }

    /// Adds a problem that has its full path already.
    pub fn add(&mut self, problem: Problem) {
        if self.found.len() < KEPT {
            self.found.push(problem);
        }
    }

    /// The value of a check. If the check failed, none, and its problem is added unchanged.
    pub fn value_of<T>(&mut self, outcome: Result<T, Problem>) -> Option<T> {
        outcome.map_err(|problem| self.add(problem)).ok()
    }

    /// Whether no problem was found in the field at the full path `path`, or below that path. Only
    /// then may other checks use the field's value.
    pub fn is_sound(&self, path: &str) -> bool {
        let is_in = |problem: &Problem| {
            let rest = problem.path.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        self.found.len() < KEPT && !self.found.iter().any(is_in)
    }

    /// Whether no problem was found in `field` of this table, or below `field`.
    pub fn has_sound(&self, field: &str) -> bool {
        self.is_sound(&self.path(field))
    }

    /// The problems found so far.
    pub fn found(&self) -> &[Problem] {
        &self.found
    }

    /// Whether no problem has been found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether the limit of problems is reached, so that the rest of a long list need not be
    /// checked.
    pub fn is_full(&self) -> bool {
        self.found.len() >= KEPT
    }

    fn path(&self, field: &str) -> String {
        if self.table.is_empty() { field.to_owned() } else { format!("{}.{field}", self.table) }
    }
}

impl Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.found.iter().enumerate() {
            let before = if number == 0 { "" } else { "\n" };
            write!(f, "{before}{problem}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_have_the_path_of_their_field() {
        let mut problems = Problems::below("scheme");
        problems.unless(true, "name", "a", "never");
        problems.within("host", |host| {
            host.within("nic", |nic| nic.unless(false, "queues", 1, "at least 2"));
        });
        problems.unless(false, "routing", "x", "write ecmp");
        let paths = problems.found().iter().map(|one| one.path.as_str());
        assert!(paths.eq(["scheme.host.nic.queues", "scheme.routing"]));
        assert_eq!(problems.found()[0].value, "1");
    }
    #[test]
    fn a_period_is_none_or_long_enough() {
        let mut problems = Problems::default();
        for ps in [0, 100_000, u64::MAX] {
            problems.unless_period_or_never("interval", Time::from_ps(ps));
        }
        assert!(problems.is_empty());
        problems.unless_period_or_never("interval", Time::from_ps(99_999));
        let expected = "interval is 99.999 ns; write 100 ns or more, or 0 for never";
        assert_eq!(problems.to_string(), expected);
    }

    #[test]
    fn each_problem_is_a_line() {
        let mut problems = Problems::default();
        assert!(problems.is_empty());
        assert_eq!(problems.value_of(Ok(7)), Some(7));
        problems.unless(false, "duration", "0 ns", "write a positive time");
        assert_eq!(problems.value_of::<u8>(Err(Problem::new("traffic", "[]", "write one"))), None);
        assert_eq!(
            problems.to_string(),
            "duration is 0 ns; write a positive time\ntraffic is []; write one"
        );
    }

    #[test]
    fn what_is_below_a_refused_field_is_not_sound() {
        let mut problems = Problems::default();
        problems.unless(false, "traffic[0].label", "x", "another");
        let sound = ["traffic", "traffic[0]", "traffic[0].label", "traffic[0].lab", "duration"]
            .map(|path| problems.is_sound(path));
        assert_eq!(sound, [false, false, false, true, true]);
    }

    #[test]
    fn a_table_knows_which_of_its_fields_were_refused_before() {
        let mut problems = Problems::default();
        problems.within("scheme", |scheme| scheme.unless(false, "nic.queues", 1, "at least 2"));
        let mut sound = [true; 3];
        problems.within("scheme", |scheme| {
            sound = ["nic", "nic.queues", "nic.scheduling"].map(|field| scheme.has_sound(field));
        });
        assert_eq!(sound, [false, false, true]);
        assert!(problems.has_sound("nic"));
    }

    #[test]
    fn of_many_problems_some_are_kept_and_nothing_is_sound_then() {
        let mut problems = Problems::default();
        for row in 0..1_000 {
            problems.within("flows", |flows| flows.unless(false, "size", row, "write 1"));
        }
        assert_eq!((problems.found().len(), problems.is_sound("duration")), (KEPT, false));
        assert!(problems.is_full());
    }
}
