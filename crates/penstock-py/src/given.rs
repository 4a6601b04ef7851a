//! A scenario as Python hands it over: JSON, and beside it the flows of long lists, in columns.
//!
//! As JSON two million flows take half a second and 300 MB to read, because the kind of a traffic may stand
//! behind its flows; in columns they take neither.

use std::collections::BTreeMap;
use std::iter::zip;

use numpy::PyReadonlyArray1;
use penstock_sim::Scenario;
use penstock_sim::workload::TrafficConfig;
use penstock_units::{Bytes, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::refusal;

/// Of each flow of a list: source, destination, size [B] and start [ps].
type Columns<'py> = (
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u64>,
);

/// A scenario that is not parsed yet.
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    /// JSON.
    Whole(String),
    /// JSON in which some entries of `traffic` have no flows; and these flows, by the place of the entry.
    InParts(String, BTreeMap<usize, Columns<'py>>),
}

impl Given<'_> {
    /// The scenario.
    pub(crate) fn parse(self) -> PyResult<Scenario> {
        let (text, lists) = match self {
            Given::Whole(text) => (text, BTreeMap::new()),
            Given::InParts(text, lists) => (text, lists),
        };
        let mut scenario = Scenario::from_json(&text).map_err(|error| refusal(&error))?;
        for (place, columns) in lists {
            let Some(TrafficConfig::Listed(listed)) = scenario.traffic.get_mut(place) else {
                return Err(PyValueError::new_err(format!("traffic[{place}] is no list of flows")));
            };
            listed.flows = rows(&columns);
        }
        Ok(scenario)
    }
}

fn rows((sources, destinations, sizes, starts): &Columns<'_>) -> Vec<(u32, u32, Bytes, Time)> {
    let hosts = zip(sources.as_array(), destinations.as_array());
    zip(hosts, zip(sizes.as_array(), starts.as_array()))
        .map(|((&source, &destination), (&size, &start))| {
            (source, destination, Bytes::new(size), Time::from_ps(start))
        })
        .collect()
}
