//! What is wrong with a configuration: every field that cannot be used, by its path.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;

/// A field whose value cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field's path in the scenario, e.g. `scheme.host.controller.gain`.
    pub path: String,
    /// The value as it was given.
    pub value: String,
    /// What would be right.
    pub remedy: String,
}

/// All problems that a check has found, in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    table: String,
    found: Vec<Problem>,
}

impl Problems {
    /// None yet; fields are named by their path below `table`.
    pub fn below(table: &str) -> Self {
        Problems { table: table.to_owned(), found: Vec::new() }
    }

    /// Runs the checks of the table `field` of this table.
    pub fn within(&mut self, field: &str, check: impl FnOnce(&mut Problems)) {
        let mut inner = Problems::below(&self.path(field));
        check(&mut inner);
        self.found.append(&mut inner.found);
    }

    /// Refuses `value` of `field` unless its bound `holds`; `remedy` says what would be right.
    pub fn unless(&mut self, holds: bool, field: &str, value: impl Display, remedy: impl Display) {
        if !holds {
            let (path, value) = (self.path(field), value.to_string());
            self.found.push(Problem { path, value, remedy: remedy.to_string() });
        }
    }

    /// What has been found.
    pub fn found(&self) -> &[Problem] {
        &self.found
    }

    fn path(&self, field: &str) -> String {
        if self.table.is_empty() { field.to_owned() } else { format!("{}.{field}", self.table) }
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
}
