//! Raw views: the bytes of one header, and its fields by name.
//!
//! The view holds a reference to an array and not to a slice. The length of a header is thus checked once,
//! in `new`, and the place of each field is checked by the compiler.

/// A value that lies in a header, most significant byte first.
pub(crate) trait Field: Sized {
    /// Bytes of the value.
    const BYTES: usize;

    /// Reads the value at `place`. The macro [`view`] proves that the field is inside the header.
    fn get<const LENGTH: usize>(header: &[u8; LENGTH], place: usize) -> Self;

    /// Writes the value at `place`, under the same proof.
    fn put<const LENGTH: usize>(self, header: &mut [u8; LENGTH], place: usize);
}

impl<const BYTES: usize> Field for [u8; BYTES] {
    const BYTES: usize = BYTES;

    #[inline]
    fn get<const LENGTH: usize>(header: &[u8; LENGTH], place: usize) -> Self {
        let mut value = [0; BYTES];
        value.copy_from_slice(&header[place..place + BYTES]);
        value
    }

    #[inline]
    fn put<const LENGTH: usize>(self, header: &mut [u8; LENGTH], place: usize) {
        header[place..place + BYTES].copy_from_slice(&self);
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Field for $integer {
            const BYTES: usize = size_of::<$integer>();

            #[inline]
            fn get<const LENGTH: usize>(header: &[u8; LENGTH], place: usize) -> Self {
                <$integer>::from_be_bytes(Field::get(header, place))
            }

            #[inline]
            fn put<const LENGTH: usize>(self, header: &mut [u8; LENGTH], place: usize) {
                self.to_be_bytes().put(header, place);
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, u128);

/// Whether a field at `place` lies within a header of `length` bytes.
pub(crate) const fn is_within<F: Field>(place: usize, length: usize) -> bool {
    place + F::BYTES <= length
}

/// Declares a raw view: its name, its header, the length of the header (bytes), and the fields. A field has
/// a reader, a writer, a type, and the place of its first byte.
macro_rules! view {
    (
        $(#[$about:meta])* $name:ident, $header:expr, $length:expr;
        $($(#[$about_field:meta])* $get:ident, $set:ident: $type:ty, $place:expr;)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<B>(B);

        // Every field lies within the header, so no field makes a slice panic.
        const _: () = {
            $(assert!(crate::view::is_within::<$type>($place, $length));)*
        };

        impl<'a> $name<&'a [u8; $length]> {
            /// The header at the start of `bytes`, and what follows the header.
            ///
            /// # Errors
            /// [`Malformed::Short`](crate::Malformed::Short) when `bytes` end within the header.
            #[inline]
            pub fn new(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), crate::Malformed> {
                let split = bytes.split_first_chunk::<{ $length }>();
                let (header, rest) = split.ok_or(crate::Malformed::Short($header))?;
                Ok(($name(header), rest))
            }
        }

        impl<'a> $name<&'a mut [u8; $length]> {
            /// The header at the start of `bytes`, to be written, and what follows the header.
            ///
            /// # Errors
            /// [`NoRoom`](crate::NoRoom) when `bytes` end within the header.
            #[inline]
            pub fn new_mut(bytes: &'a mut [u8]) -> Result<(Self, &'a mut [u8]), crate::NoRoom> {
                let given = bytes.len();
                match bytes.split_first_chunk_mut::<{ $length }>() {
                    Some((header, rest)) => Ok(($name(header), rest)),
                    None => Err(crate::NoRoom { needed: $length, given }),
                }
            }
        }

        impl<B: core::borrow::Borrow<[u8; $length]>> $name<B> {
            $(
                $(#[$about_field])*
                #[inline]
                pub fn $get(&self) -> $type {
                    crate::view::Field::get(self.0.borrow(), $place)
                }
            )*
        }

        impl<B: core::borrow::BorrowMut<[u8; $length]>> $name<B> {
            $(
                #[doc = concat!("Writes what [`Self::", stringify!($get), "`] reads.")]
                #[inline]
                pub fn $set(&mut self, value: $type) {
                    crate::view::Field::put(value, self.0.borrow_mut(), $place);
                }
            )*
        }
    };
}

pub(crate) use view;

#[cfg(test)]
mod tests {
    use crate::{Header, Malformed, NoRoom};

    view! {
        /// Two fields.
        RawPair, Header::Udp, 3;
        /// The first.
        first, set_first: u8, 0;
        /// The second.
        second, set_second: u16, 1;
    }

    #[test]
    fn fields_lie_where_they_are_declared_with_the_most_significant_byte_first() {
        let mut bytes = [0, 0, 0, 9];
        let (mut pair, rest) = RawPair::new_mut(&mut bytes).unwrap();
        pair.set_first(1);
        pair.set_second(0x0203);
        assert_eq!(rest, &[9]);
        let (pair, rest) = RawPair::new(&bytes).unwrap();
        assert_eq!((pair.first(), pair.second(), rest), (1, 0x0203, &[9][..]));
        assert_eq!(bytes, [1, 2, 3, 9]);
    }

    #[test]
    fn what_is_too_short_is_refused() {
        assert_eq!(RawPair::new(&[1, 2]).unwrap_err(), Malformed::Short(Header::Udp));
        assert_eq!(RawPair::new_mut(&mut [1, 2]).unwrap_err(), NoRoom { needed: 3, given: 2 });
    }
}
