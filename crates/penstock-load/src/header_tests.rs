use proptest::prelude::*;

use super::*;

fn headers() -> impl Strategy<Value = Header> {
    (any::<u64>(), any::<Option<u64>>(), 0..=LARGEST_CLASS)
        .prop_map(|(number, size, class)| Header { number, size: size.map(Bytes::new), class })
}

/// `bytes` with the checksum that belongs to them.
fn sealed(mut bytes: [u8; HEADER_BYTES]) -> [u8; HEADER_BYTES] {
    let check = xxh3_64(&bytes[..CHECKED_BYTES]);
    bytes[CHECKED_BYTES..].copy_from_slice(&check.to_be_bytes());
    bytes
}

#[test]
fn fields_stand_where_the_table_says() {
    let header = Header { number: 0x0102, size: Some(Bytes::new(0x0304)), class: 5 };
    let bytes = header.encode();
    assert_eq!(bytes[..8], *b"PSLD\x01\x05\x01\x00");
    assert_eq!(bytes[8..24], [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 3, 4]);
}

#[test]
fn fields_out_of_range_are_refused_even_with_the_right_checksum() {
    let good = Header { number: 1, size: None, class: 0 }.encode();
    for (place, value) in [(5, 8), (6, 1 << 1), (7, 1), (23, 1)] {
        let mut bytes = good;
        bytes[place] = value;
        assert_eq!(Header::decode(&sealed(bytes)), Err(HeaderFault::Field), "byte {place}");
    }
    for (place, value) in [(0, b'p'), (4, 2)] {
        let mut bytes = good;
        bytes[place] = value;
        assert_eq!(Header::decode(&sealed(bytes)), Err(HeaderFault::Foreign), "byte {place}");
    }
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(header in headers()) {
        prop_assert_eq!(Header::decode(&header.encode()), Ok(header));
    }

    #[test]
    fn one_flipped_bit_is_noticed(header in headers(), bit in 0..8 * HEADER_BYTES) {
        let mut bytes = header.encode();
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(Header::decode(&bytes).is_err());
    }

    /// There is one encoding of a header: whatever decodes is what is encoded.
    #[test]
    fn whatever_decodes_is_an_encoding(class: u8, has_size in 0u8..4, zero in 0u8..2, rest: [u8; 16]) {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&[VERSION, class, has_size, zero]);
        bytes[8..24].copy_from_slice(&rest);
        let bytes = sealed(bytes);
        if let Ok(header) = Header::decode(&bytes) {
            prop_assert_eq!(header.encode(), bytes);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes: [u8; HEADER_BYTES]) {
        prop_assert!(Header::decode(&bytes).is_err());
    }
}
