//! The flow sizes.

use std::path::Path;

use penstock_engine::stream::stream;
use penstock_units::{Problems, declared};
use proptest::prelude::*;

use super::*;

fn cdf(convention: Convention, points: &[(u64, f64)]) -> SizeConfig {
    let points = points.iter().map(|&(size, share)| (Bytes::new(size), share)).collect();
    SizeConfig::Cdf { name: "test".to_owned(), convention, points }
}

/// Web search, as in the HPCC generator (BASELINES 22).
const WEB_SEARCH: [(u64, f64); 12] = [
    (0, 0.0),
    (10_000, 0.15),
    (20_000, 0.2),
    (30_000, 0.3),
    (50_000, 0.4),
    (80_000, 0.53),
    (200_000, 0.6),
    (1_000_000, 0.7),
    (2_000_000, 0.8),
    (5_000_000, 0.9),
    (10_000_000, 0.97),
    (30_000_000, 1.0),
];

/// Alibaba storage (BASELINES 22).
const STORAGE: [(u64, f64); 9] = [
    (0, 0.0),
    (4_000, 0.2293),
    (8_000, 0.6921),
    (16_000, 0.8061),
    (32_000, 0.9047),
    (64_000, 0.9353),
    (128_000, 0.9677),
    (256_000, 0.9753),
    (2_000_000, 1.0),
];

#[test]
fn means_are_those_of_the_workloads_readme() {
    // The means of workloads/README.md: with the native convention, and with the other one.
    let cases = [
        (&WEB_SEARCH[..], Convention::Linear, 1_711_250.0),
        (&WEB_SEARCH[..], Convention::Step, 2_434_900.0),
        (&STORAGE[..], Convention::Linear, 40_870.0),
        (&STORAGE[..], Convention::Step, 67_050.0),
    ];
    for (points, convention, mean) in cases {
        let measured = cdf(convention, points).distribution("sizes").unwrap().mean();
        assert!((measured / mean - 1.0).abs() < 1e-3, "{measured} is not {mean}");
    }
}

#[test]
fn shipped_tables_have_the_means_of_their_readme() {
    use Convention::{Linear, Step};
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/penstock/workloads");
    // The means of workloads/README.md, with the native convention.
    let cases = [
        ("FB_Hadoop", Linear, 120_421.0),
        ("WebSearch", Linear, 1_711_250.0),
        ("AliStorage", Linear, 40_870.0),
        ("GoogleRPC2008", Linear, 2_892.0),
        ("Google_AllRPC", Step, 2_927.4),
        ("Google_SearchRPC", Step, 440.8),
        ("FB_WebServer", Step, 62_874.0),
        ("FB_CacheFollower", Step, 692_976.0),
        ("FB_Hadoop_HomaW4", Step, 127_797.0),
        ("WebSearch_HomaW5", Step, 2_547_268.0),
        ("CONGA_Enterprise", Linear, 216_304.0),
        ("BFC_W3_Google_min101", Linear, 2_907.0),
        ("BFC_W4_FBHadoop", Linear, 121_849.0),
        ("DataMining_VL2", Linear, 7_470_236.0),
    ];
    for (name, convention, mean) in cases {
        let text = std::fs::read_to_string(folder.join(format!("{name}.csv"))).unwrap();
        let rows = text.lines().skip(1).map(|line| {
            let (size, share) = line.split_once(',').unwrap();
            (size.parse().unwrap(), share.trim().parse().unwrap())
        });
        let points: Vec<(u64, f64)> = rows.collect();
        let measured = cdf(convention, &points).distribution("sizes").unwrap().mean();
        assert!((measured / mean - 1.0).abs() < 1e-3, "{name}: {measured} is not {mean}");
    }
}

#[test]
fn a_pareto_distribution_without_a_tail_has_its_mean_everywhere() {
    let config = SizeConfig::Pareto { shape: 1e308, mean: Bytes::new(30_000) };
    let distribution = config.distribution("sizes").unwrap();
    assert_eq!([1e-9, 0.5, 1.0].map(|level| distribution.at(level)), [30_000; 3]);
}

#[test]
fn sample_means_are_within_their_error() {
    let configs = [
        cdf(Convention::Linear, &WEB_SEARCH),
        cdf(Convention::Step, &WEB_SEARCH),
        cdf(Convention::Linear, &STORAGE),
        cdf(Convention::Linear, &[(1_460, 0.0), (1_460, 0.5), (2_920, 1.0)]),
        cdf(Convention::Linear, &[(100, 0.25), (300, 1.0)]),
        SizeConfig::Fixed { size: Bytes::new(777) },
        SizeConfig::Exponential { mean: Bytes::new(20_000) },
        SizeConfig::Pareto { shape: 2.5, mean: Bytes::new(30_000) },
    ];
    let mut random = stream(1, "sizes");
    for config in configs {
        let distribution = config.distribution("sizes").unwrap();
        let count = 200_000;
        let draws = (0..count).map(|_| distribution.draw(&mut random) as f64);
        let (sum, square) = draws.fold((0.0, 0.0), |(sum, sq), x| (sum + x, sq + x * x));
        let mean = sum / f64::from(count);
        let error = ((square / f64::from(count) - mean * mean).max(0.0) / f64::from(count)).sqrt();
        let off = (mean - distribution.mean()).abs();
        assert!(off <= 4.0 * error + 1e-9, "{config:?}: {mean} is off by {off}, error {error}");
    }
}

#[test]
fn no_flow_is_larger_than_tables_hold() {
    let (most, above) = (Bytes::new(MOST), Bytes::new(MOST + 1));
    let refused = |config: SizeConfig, expected: &str| {
        let message = config.distribution("x").unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message:?} does not say {expected:?}");
        assert!(message.contains("write at most 9223372036854775807 bytes"), "{message}");
    };
    refused(SizeConfig::Fixed { size: above }, "x.size is 8589934592 GiB;");
    refused(SizeConfig::Exponential { mean: above }, "x.mean is 8589934592 GiB;");
    refused(SizeConfig::Pareto { shape: 2.0, mean: above }, "x.mean is 8589934592 GiB;");
    refused(
        cdf(Convention::Step, &[(1, 0.5), (MOST + 1, 1.0)]),
        "x.points[1][0] is 8589934592 GiB;",
    );
    let long_tail = SizeConfig::Pareto { shape: 1.1, mean: most }.distribution("x").unwrap();
    assert_eq!(long_tail.at(1e-9), MOST);
    assert_eq!(SizeConfig::Fixed { size: most }.distribution("x").unwrap().at(1.0), MOST);
}

#[test]
fn refusals_name_the_row() {
    let cases = [
        (cdf(Convention::Linear, &[]), "x.points is a list of 0; the table is empty"),
        (cdf(Convention::Linear, &[(1, 0.0), (2, 0.9)]), "x.points is a table that ends at 0.9;"),
        (cdf(Convention::Step, &[(1, 0.5), (2, 0.4), (3, 1.0)]), "x.points[1][1] is 0.4;"),
        (cdf(Convention::Step, &[(5, 0.5), (2, 1.0)]), "x.points[1][0] is 2 B;"),
        (cdf(Convention::Step, &[(5, 50.0), (6, 100.0)]), "x.points[0][1] is 50;"),
        (cdf(Convention::Step, &[(5, f64::NAN), (6, 1.0)]), "x.points[0][1] is NaN;"),
        (cdf(Convention::Step, &[(0, 1.0)]), "x.points is a table of mean 0 B;"),
    ];
    for (config, expected) in cases {
        let message = config.distribution("x").unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message:?} does not say {expected:?}");
    }
}

#[test]
fn sizes_have_bounds() {
    let cases = [
        (SizeConfig::Fixed { size: Bytes::ZERO }, "x.size is 0 B;"),
        (SizeConfig::Exponential { mean: Bytes::ZERO }, "x.mean is 0 B;"),
        (SizeConfig::Pareto { shape: 1.0, mean: Bytes::new(9) }, "x.shape is 1.0; write above 1"),
    ];
    for (config, expected) in cases {
        let mut problems = Problems::below("x");
        declared::check(&config, &mut problems);
        assert!(problems.to_string().starts_with(expected), "{problems} does not say {expected:?}");
    }
}

proptest! {
    #[test]
    fn draws_stay_in_the_table(
        rows in prop::collection::vec((0u64..1_000_000, 0.0f64..1.0), 1..20),
        is_step: bool,
        seed: u64,
    ) {
        let (mut sizes, mut shares): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        sizes.sort_unstable();
        shares.sort_by(f64::total_cmp);
        *shares.last_mut().unwrap() = 1.0;
        *sizes.last_mut().unwrap() += 1;
        let convention = if is_step { Convention::Step } else { Convention::Linear };
        let points: Vec<_> = sizes.iter().copied().zip(shares).collect();
        let distribution = cdf(convention, &points).distribution("sizes").unwrap();
        let mut random = stream(seed, "sizes");
        for _ in 0..100 {
            let size = distribution.draw(&mut random);
            prop_assert!(size >= sizes[0].max(1) && size <= *sizes.last().unwrap());
            prop_assert!(!is_step || size == 1 || sizes.contains(&size));
        }
    }
}
