//! The fuzzer's corpus, replayed in full, and random changes of it. `fuzz` finds new inputs; this test keeps
//! what was found.

mod check;

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;

/// The inputs in the order of their names.
static CORPUS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let entries = std::fs::read_dir(folder).expect("the corpus is committed");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a readable file")).collect()
});

/// A change of an input.
#[derive(Clone, Debug)]
enum Change {
    Byte(Index, u8),
    Bit(Index, u8),
    Cut(Index),
    /// The input goes on as another one from this place on.
    Splice(Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    let place = any::<Index>;
    prop_oneof![
        4 => (place(), any::<u8>()).prop_map(|(place, value)| Change::Byte(place, value)),
        4 => (place(), 0..8u8).prop_map(|(place, bit)| Change::Bit(place, bit)),
        1 => place().prop_map(Change::Cut),
        1 => (place(), place()).prop_map(|(place, other)| Change::Splice(place, other)),
    ]
}

fn changed(mut bytes: Vec<u8>, change: &Change) -> Vec<u8> {
    if bytes.is_empty() {
        return bytes;
    }
    let length = bytes.len();
    match change {
        Change::Byte(place, value) => bytes[place.index(length)] = *value,
        Change::Bit(place, bit) => bytes[place.index(length)] ^= 1 << bit,
        Change::Cut(place) => bytes.truncate(place.index(length)),
        Change::Splice(place, other) => {
            bytes.truncate(place.index(length));
            let other = &CORPUS[other.index(CORPUS.len())];
            bytes.extend(other.iter().skip(bytes.len()).copied());
        }
    }
    bytes
}

#[test]
fn every_input_of_the_corpus_is_handled() {
    assert!(CORPUS.len() >= 200, "{} inputs", CORPUS.len());
    CORPUS.iter().for_each(|bytes| check::every_parser(bytes));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn changes_of_the_corpus_are_handled(
        input in any::<Index>(),
        changes in prop::collection::vec(change(), 1..5),
    ) {
        let bytes = CORPUS[input.index(CORPUS.len())].clone();
        check::every_parser(&changes.iter().fold(bytes, changed));
    }
}
