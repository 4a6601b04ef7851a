//! The bytes of each kind of frame: the committed `frames.txt`, which the Python test gives to Wireshark, and
//! the page that documents them.

mod samples;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use penstock_wire::kind::{KINDS, number_of};
use penstock_wire::{PriorityPause, classify, read};
use samples::all;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/wire.md")).expect("the page is there")
}

fn sample(name: &str) -> Vec<u8> {
    all().into_iter().find(|(other, _)| *other == name).expect("a sample of this name").1
}

#[test]
fn the_committed_frames_are_those_that_are_written() {
    let remedy = "cargo run -p penstock-wire --example frames > crates/penstock-wire/tests/frames/frames.txt";
    assert_eq!(include_str!("frames.txt"), samples::listing(), "renew the file: {remedy}");
}

#[test]
fn there_is_a_frame_of_every_kind() {
    let kinds: BTreeSet<u8> = all()
        .iter()
        .filter(|(name, _)| *name != "priority-pause")
        .map(|(name, bytes)| number_of(read(bytes).expect(name).packet.kind))
        .collect();
    assert_eq!(kinds, KINDS.into_iter().map(number_of).collect());
    assert!(PriorityPause::parse(&sample("priority-pause")).is_ok());
}

#[test]
fn a_kernel_frame_is_restored_and_classified() {
    let bytes = sample("encapsulated");
    let frame = read(&bytes).unwrap();
    let mut restored = vec![0; 54];
    assert_eq!(frame.restore(&mut restored), Ok(54));
    assert_eq!(restored, samples::kernel_frame());
    assert!(classify(&restored).is_ok());
    assert!(classify(&bytes).is_err(), "our header is forged where a kernel sends it");
}

/// Sixteen bytes a line, with the place of the first.
fn hexdump(bytes: &[u8]) -> String {
    let line = |(number, bytes): (usize, &[u8])| {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{:04x}  {}\n", 16 * number, digits.join(" "))
    };
    bytes.chunks(16).enumerate().map(line).collect()
}

#[test]
fn the_page_shows_the_bytes_that_are_written() {
    let page = page();
    for name in ["data-telemetry", "pause-queue", "priority-pause"] {
        let dump = hexdump(&sample(name));
        assert!(page.contains(&dump), "docs/wire.md lacks {name}:\n{dump}");
    }
}

#[test]
fn the_page_lists_every_kind_with_its_number() {
    let page = page();
    for kind in KINDS {
        let row = format!("| `0x{:02x}` | `{kind:?}` |", number_of(kind));
        assert!(page.contains(&row), "docs/wire.md lacks {row}");
    }
}
