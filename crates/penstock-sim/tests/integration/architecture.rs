//! Dependencies point one way: units <- packet <- fabric, transport <- sim -> engine; packet <- wire; sim,
//! wire, load <- emulate; py is on top. A change of these tests is a change of the architecture.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The crates of this project that each crate may depend on, in any kind of dependency.
const ALLOWED: [(&str, &[&str]); 10] = [
    ("penstock-units", &[]),
    ("penstock-packet", &["penstock-units"]),
    ("penstock-wire", &["penstock-units", "penstock-packet"]),
    ("penstock-engine", &["penstock-units"]),
    ("penstock-fabric", &["penstock-units", "penstock-packet"]),
    ("penstock-transport", &["penstock-units", "penstock-packet"]),
    (
        "penstock-sim",
        &[
            "penstock-units",
            "penstock-packet",
            "penstock-engine",
            "penstock-fabric",
            "penstock-transport",
        ],
    ),
    ("penstock-load", &["penstock-units"]),
    (
        "penstock-emulate",
        &[
            "penstock-units",
            "penstock-packet",
            "penstock-fabric",
            "penstock-sim",
            "penstock-wire",
            "penstock-load",
        ],
    ),
    (
        "penstock-py",
        &["penstock-units", "penstock-packet", "penstock-wire", "penstock-sim", "penstock-emulate"],
    ),
];

/// Crates that must build without the standard library.
const NO_STD: [&str; 4] =
    ["penstock-packet", "penstock-wire", "penstock-fabric", "penstock-transport"];

/// Crates that must not appear in data-plane crates: clocks, threads, files, global randomness.
const FORBIDDEN_IN_NO_STD: [&str; 6] = ["std", "rand", "tokio", "chrono", "log", "tracing"];

fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

/// The packages of the workspace, by name.
fn packages() -> BTreeMap<String, Value> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .map(|package| (package["name"].as_str().unwrap().to_owned(), package.clone()))
        .collect()
}

fn dependencies(package: &Value) -> Vec<(String, bool)> {
    let all = package["dependencies"].as_array().unwrap().iter();
    all.map(|one| (one["name"].as_str().unwrap().to_owned(), one["kind"].is_null())).collect()
}

#[test]
fn no_crate_depends_on_one_that_it_must_not_know() {
    let packages = packages();
    let names: Vec<&str> = packages.keys().map(String::as_str).collect();
    let mut known: Vec<&str> = ALLOWED.iter().map(|entry| entry.0).collect();
    known.sort_unstable();
    assert_eq!(names, known, "a new crate needs its place in ALLOWED");
    for (name, allowed) in ALLOWED {
        let ours = dependencies(&packages[name]);
        for (dependency, _) in ours.iter().filter(|(other, _)| other.starts_with("penstock-")) {
            assert!(allowed.contains(&dependency.as_str()), "{name} depends on {dependency}");
        }
    }
}

#[test]
fn switches_and_hosts_need_no_standard_library() {
    let packages = packages();
    for name in NO_STD {
        let manifest = packages[name]["manifest_path"].as_str().unwrap();
        let root = Path::new(manifest).with_file_name("src").join("lib.rs");
        let text = std::fs::read_to_string(&root).unwrap();
        let says = |line: &str| text.lines().any(|other| other.trim() == line);
        assert!(says("#![no_std]"), "{name}");
        assert!(says("#![forbid(unsafe_code)]"), "{name}");
        assert!(!text.contains("extern crate std"), "{name}");
        for (dependency, is_normal) in dependencies(&packages[name]) {
            let is_forbidden = FORBIDDEN_IN_NO_STD.contains(&dependency.as_str());
            assert!(!(is_normal && is_forbidden), "{name} depends on {dependency}");
        }
        for dependency in packages[name]["dependencies"].as_array().unwrap() {
            if !dependency["kind"].is_null() || dependency["path"].is_string() {
                continue;
            }
            let features = dependency["features"].as_array().unwrap();
            assert!(!features.iter().any(|feature| feature == "std"), "{name}: {dependency}");
            assert_eq!(
                dependency["uses_default_features"], false,
                "{name}: {}",
                dependency["name"]
            );
        }
    }
}
