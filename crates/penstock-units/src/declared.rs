//! The bounds that a configuration declares with its fields, and the check of a value against these
//! bounds.
//!
//! A field is declared once. Its doc comment says what it means; its attributes say the rest:
//!
//! ```
//! use penstock_units::{Bytes, Problems, declared};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Parameters {
//!     /// Queue that is aimed at.
//!     #[schemars(range(min = 1), extend("default" = "26 kB", "source" = "IEEE 802.1Q"))]
//!     set_point: Bytes,
//!     /// Share by which a distance varies either way.
//!     #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0, "default" = 0.15))]
//!     jitter: f64,
//! }
//!
//! let mut problems = Problems::default();
//! declared::check(&Parameters { set_point: Bytes::ZERO, jitter: 1.0 }, &mut problems);
//! assert_eq!(
//!     problems.to_string(),
//!     "set_point is 0 B; write 1 B or more\njitter is 1.0; write 0.0 or more, below 1.0",
//! );
//! ```
//!
//! | attribute | meaning |
//! |---|---|
//! | `range(min, max)` | smallest and largest value; a quantity's in its base unit |
//! | `length(min, max)` | fewest and most entries of a list |
//! | `"exclusiveMinimum"`, `"exclusiveMaximum"` | the value must be above, or below, the bound |
//! | `"default"` | the default as a user writes it, so `"26 kB"` for [`Bytes`] |
//! | `"source"` | where the default comes from |
//! | `"unit"` | unit of a plain number |
//! | `"is_long"` | a text that is no label, such as a path |
//!
//! The rest of Penstock reads the same declarations from the schema that `schemars` makes of them: the Python
//! models, `penstock show` and the tables in `docs/files.md`.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::{BitRate, Bytes, Problems, Time};

/// Adds a problem for every field of `parameters`, at any depth, that is outside its declared
/// bounds.
///
/// In a list only the first wrong entry is told, because a list may have a million.
///
/// # Panics
/// When `parameters` cannot be written as JSON. Plain data always can be.
pub fn check<T: JsonSchema + Serialize>(parameters: &T, problems: &mut Problems) {
    Declared::by::<T>().check(parameters, problems);
}

/// The bounds that a table declares, kept to check many values of the table or parts of one value.
#[derive(Clone, Debug)]
pub struct Declared {
    schema: Schema,
}

impl Declared {
    /// What `T` declares.
    pub fn by<T: JsonSchema>() -> Self {
        Declared { schema: SchemaGenerator::default().into_root_schema_for::<T>() }
    }

    /// Checks `value` as [`check`] does. Bounds of fields that `value` does not have are skipped.
    ///
    /// # Panics
    /// When `value` cannot be written as JSON. Plain data always can be.
    pub fn check(&self, value: &impl Serialize, problems: &mut Problems) {
        let value = serde_json::to_value(value).expect("parameters are plain data");
        let schema = self.schema.as_value();
        Bounds { root: schema, problems }.check(schema, &value, "");
    }
}

/// The kind of a choice, as a scenario writes it: the field `kind`, or an empty text without that
/// field.
pub fn kind(choice: &impl Serialize) -> String {
    let table = serde_json::to_value(choice).unwrap_or_default();
    table["kind"].as_str().unwrap_or_default().to_owned()
}

/// The walk through a value beside its schema.
struct Bounds<'a> {
    root: &'a Value,
    problems: &'a mut Problems,
}

impl Bounds<'_> {
    /// Checks `value`, at `path`, against `schema`; true when everything is within its bounds.
    fn check(&mut self, schema: &Value, value: &Value, path: &str) -> bool {
        let Value::Object(schema) = schema else { return true };
        let root = self.root;
        let mut is_sound = true;
        if let Some(Value::String(reference)) = schema.get("$ref") {
            let named = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
            is_sound &= named.is_none_or(|named| self.check(named, value, path));
        }
        for alternatives in ["oneOf", "anyOf"] {
            let Some(Value::Array(alternatives)) = schema.get(alternatives) else { continue };
            let chosen = alternatives.iter().find(|one| is_of(one, value));
            is_sound &= chosen.is_none_or(|chosen| self.check(chosen, value, path));
        }
        is_sound
            & match value {
                Value::Number(number) => self.number(schema, number, path),
                Value::Array(entries) => self.list(schema, entries, path),
                Value::Object(fields) => {
                    let Some(Value::Object(properties)) = schema.get("properties") else {
                        return is_sound;
                    };
                    let check = |sound, (name, schema): (&String, &Value)| {
                        let path =
                            if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                        sound
                            & fields.get(name).is_none_or(|value| self.check(schema, value, &path))
                    };
                    properties.iter().fold(true, check)
                }
                // JSON has null for a number that is infinite, or not a number.
                Value::Null if schema.get("type").and_then(Value::as_str) == Some("number") => {
                    let remedy = "write a finite number";
                    self.problems.unless(false, path, "no finite number", remedy);
                    false
                }
                _ => true,
            }
    }

    fn number(&mut self, schema: &Map<String, Value>, number: &Number, path: &str) -> bool {
        let value = number.as_f64().unwrap_or_default();
        let bound = |name| schema.get(name).and_then(Value::as_f64);
        let holds = bound("minimum").is_none_or(|least| value >= least)
            && bound("maximum").is_none_or(|most| value <= most)
            && bound("exclusiveMinimum").is_none_or(|below| value > below)
            && bound("exclusiveMaximum").is_none_or(|above| value < above);
        let shown = shown(schema, number);
        self.problems.unless(holds, path, shown, range(schema));
        holds
    }

    fn list(&mut self, schema: &Map<String, Value>, entries: &[Value], path: &str) -> bool {
        let bound = |name, none| schema.get(name).and_then(Value::as_u64).unwrap_or(none);
        let (count, least, most) =
            (entries.len() as u64, bound("minItems", 0), bound("maxItems", u64::MAX));
        if !(least..=most).contains(&count) {
            let remedy = match (least, most) {
                (least, u64::MAX) => format!("write {least} or more"),
                (least, most) if least == most => format!("write {least}"),
                (least, most) => format!("write {least} to {most}"),
            };
            self.problems.unless(false, path, format!("a list of {count}"), remedy);
            return false;
        }
        let fixed = schema.get("prefixItems").and_then(Value::as_array);
        (0..).zip(entries).all(|(index, entry): (usize, _)| {
            let schema = fixed.and_then(|fixed| fixed.get(index)).or_else(|| schema.get("items"));
            schema.is_none_or(|schema| self.check(schema, entry, &format!("{path}[{index}]")))
        })
    }
}

/// Whether `value` belongs to the alternative `schema`: both have the same kind, or both are null.
fn is_of(schema: &Value, value: &Value) -> bool {
    let kind = schema.pointer("/properties/kind/const");
    let is_null = schema.get("type").and_then(Value::as_str) == Some("null");
    kind.is_none_or(|kind| value.get("kind") == Some(kind)) && is_null == value.is_null()
}

/// A number as a user writes it: with its unit where the field holds a quantity.
fn shown(schema: &Map<String, Value>, number: &Number) -> String {
    let quantity = schema.get("quantity").and_then(Value::as_str);
    match (quantity, number.as_u64()) {
        (Some("size"), Some(bytes)) => Bytes::new(bytes).to_string(),
        (Some("rate"), Some(rate)) => BitRate::from_bps(rate).to_string(),
        (Some("time"), Some(time)) => Time::from_ps(time).to_string(),
        _ => number.to_string(),
    }
}

/// What a user may write, in words.
fn range(schema: &Map<String, Value>) -> String {
    let bound = |name| match schema.get(name) {
        Some(Value::Number(number)) => Some(shown(schema, number)),
        _ => None,
    };
    let inclusive = (bound("minimum"), bound("maximum"));
    let exclusive = (bound("exclusiveMinimum"), bound("exclusiveMaximum"));
    let words = match (inclusive, exclusive) {
        ((Some(least), Some(most)), _) => format!("{least} to {most}"),
        ((Some(least), None), (_, Some(above))) => format!("{least} or more, below {above}"),
        ((Some(least), None), (_, None)) => format!("{least} or more"),
        ((None, Some(most)), (Some(below), _)) => format!("above {below}, at most {most}"),
        ((None, Some(most)), (None, _)) => format!("at most {most}"),
        ((None, None), (Some(below), Some(above))) => format!("above {below}, below {above}"),
        ((None, None), (Some(below), None)) => format!("above {below}"),
        ((None, None), (None, Some(above))) => format!("below {above}"),
        ((None, None), (None, None)) => "another value".to_owned(),
    };
    format!("write {words}")
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use serde::Deserialize;

    use super::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Row {
        /// A rate.
        #[schemars(range(min = 1))]
        rate: BitRate,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
    enum Choice {
        /// Plain.
        Plain {},
        /// Bounded.
        Bounded {
            /// A share.
            #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
            share: f64,
        },
        /// In another table.
        Rows(Row),
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Table {
        /// How long.
        #[schemars(range(min = 1_000, max = 5_000_000))]
        span: Time,
        /// Perhaps.
        #[schemars(range(min = 1))]
        size: Option<Bytes>,
        /// Which.
        choice: Choice,
        /// Some.
        #[schemars(length(min = 1, max = 3))]
        rows: Vec<Row>,
        /// Pairs.
        pairs: Vec<(u32, Bytes)>,
    }

    fn table() -> Table {
        Table {
            span: Time::from_us(1),
            size: Some(Bytes::new(1)),
            choice: Choice::Bounded { share: 1.0 },
            rows: vec![Row { rate: BitRate::from_gbps(1) }],
            pairs: vec![(0, Bytes::ZERO)],
        }
    }

    fn found(table: &Table) -> Vec<String> {
        let mut problems = Problems::below("scheme");
        check(table, &mut problems);
        problems.found().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_within_its_bounds_is_no_problem() {
        assert!(found(&table()).is_empty());
        let choice = Choice::Plain {};
        assert!(found(&Table { size: None, choice, pairs: vec![], ..table() }).is_empty());
    }

    #[test]
    fn everything_outside_is_told_at_once() {
        let wrong = Row { rate: BitRate::default() };
        let table = Table {
            span: Time::ZERO,
            size: Some(Bytes::ZERO),
            choice: Choice::Bounded { share: 0.0 },
            rows: vec![wrong],
            ..table()
        };
        let expected = [
            "scheme.span is 0 ps; write 1 ns to 5 us",
            "scheme.size is 0 B; write 1 B or more",
            "scheme.choice.share is 0.0; write above 0.0, at most 1.0",
            "scheme.rows[0].rate is 0 b/s; write 1 b/s or more",
        ];
        assert_eq!(found(&table), expected);
    }

    #[test]
    fn a_number_is_finite() {
        for share in [f64::NAN, f64::INFINITY] {
            let table = Table { choice: Choice::Bounded { share }, ..table() };
            let expected = ["scheme.choice.share is no finite number; write a finite number"];
            assert_eq!(found(&table), expected);
        }
    }

    #[test]
    fn a_part_of_a_table_is_checked_by_itself() {
        let mut problems = Problems::default();
        let part = serde_json::json!({ "span": Time::ZERO, "rows": [] });
        Declared::by::<Table>().check(&part, &mut problems);
        let paths = problems.found().iter().map(|one| one.path.as_str());
        assert!(paths.eq(["span", "rows"]), "{problems}");
    }

    #[test]
    fn a_table_behind_a_kind_is_checked() {
        let choice = Choice::Rows(Row { rate: BitRate::default() });
        let expected = ["scheme.choice.rate is 0 b/s; write 1 b/s or more"];
        assert_eq!(found(&Table { choice, ..table() }), expected);
    }

    #[test]
    fn a_choice_has_the_name_that_scenarios_write() {
        assert_eq!(kind(&Choice::Plain {}), "plain");
        assert_eq!(kind(&7), "");
    }

    #[test]
    fn a_list_has_its_length_and_tells_its_first_wrong_entry() {
        let expected = ["scheme.rows is a list of 0; write 1 to 3"];
        assert_eq!(found(&Table { rows: vec![], ..table() }), expected);
        let rows = || (0..2).map(|_| Row { rate: BitRate::default() }).collect();
        assert_eq!(found(&Table { rows: rows(), ..table() }).len(), 1);
    }
}
