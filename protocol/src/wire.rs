//! Encoding: little-endian fixed-width numbers, lengths before sequences, a byte before each variant.
//!
//! Invariant: `get(put(x)) == x`, and `get` never allocates more than the input is long. Refuses trailing bytes.

use alloc::vec::Vec;

/// Longest frame that either side accepts, in bytes. The kernel caps argv and environment at 6 MiB together
/// (execve(2)); a script of 1 MiB and the paths fit besides.
pub const FRAME_LIMIT: usize = 16 << 20;

/// What a decoder found wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireError {
    /// The input ended inside a value.
    Short,
    /// Bytes were left over behind the last value.
    Trailing,
    /// A variant byte that this version does not know.
    Variant(u8),
    /// A frame longer than [`FRAME_LIMIT`].
    TooLong,
}

impl core::fmt::Display for WireError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Short => f.write_str("the message ends early"),
            Self::Trailing => f.write_str("the message has bytes left over"),
            Self::Variant(v) => write!(f, "the message has an unknown variant {v}"),
            Self::TooLong => write!(f, "the message is longer than {FRAME_LIMIT} bytes"),
        }
    }
}

impl core::error::Error for WireError {}

/// What is left of an input.
#[derive(Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], WireError> {
        let (head, tail) = self.0.split_at_checked(n).ok_or(WireError::Short)?;
        self.0 = tail;
        Ok(head)
    }

    /// Fails unless everything was read.
    pub fn end(self) -> Result<(), WireError> {
        if self.0.is_empty() { Ok(()) } else { Err(WireError::Trailing) }
    }
}

/// A value with a form on the wire.
pub trait Wire: Sized {
    /// Appends the value.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads the value.
    fn get(from: &mut Reader<'_>) -> Result<Self, WireError>;

    /// The value alone, as bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out
    }

    /// The value that `bytes` hold from first to last.
    fn from_bytes(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let value = Self::get(&mut reader)?;
        reader.end()?;
        Ok(value)
    }
}

macro_rules! number {
    ($($t:ty),*) => {$(
        impl Wire for $t {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn get(from: &mut Reader<'_>) -> Result<Self, WireError> {
                let mut raw = [0; size_of::<$t>()];
                raw.copy_from_slice(from.take(size_of::<$t>())?);
                Ok(<$t>::from_le_bytes(raw))
            }
        }
    )*};
}
number!(u8, u16, u32, u64, i32, i64);

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn get(from: &mut Reader<'_>) -> Result<Self, WireError> {
        match u8::get(from)? {
            0 => Ok(false),
            1 => Ok(true),
            v => Err(WireError::Variant(v)),
        }
    }
}

impl<const N: usize> Wire for [u8; N] {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
    fn get(from: &mut Reader<'_>) -> Result<Self, WireError> {
        let mut raw = [0; N];
        raw.copy_from_slice(from.take(N)?);
        Ok(raw)
    }
}

pub(crate) fn put_length(n: usize, out: &mut Vec<u8>) {
    // A sequence of more than u32::MAX elements cannot be framed; the frame writer refuses it by its length.
    u32::try_from(n).unwrap_or(u32::MAX).put(out);
}

impl Wire for Vec<u8> {
    fn put(&self, out: &mut Vec<u8>) {
        put_length(self.len(), out);
        out.extend_from_slice(self);
    }
    fn get(from: &mut Reader<'_>) -> Result<Self, WireError> {
        let n = u32::get(from)? as usize;
        Ok(from.take(n)?.to_vec())
    }
}

macro_rules! sequence {
    ($($t:ty),*) => {$(
        impl Wire for Vec<$t> {
            fn put(&self, out: &mut Vec<u8>) {
                $crate::wire::put_length(self.len(), out);
                self.iter().for_each(|item| item.put(out));
            }
            fn get(from: &mut Reader<'_>) -> Result<Self, WireError> {
                // No capacity is reserved from the stated length: each element has to be there.
                let n = u32::get(from)?;
                (0..n).map(|_| <$t>::get(from)).collect()
            }
        }
    )*};
}
pub(crate) use sequence;
sequence!(Vec<u8>);

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn get(from: &mut Reader<'_>) -> Result<Self, WireError> {
        bool::get(from)?.then(|| T::get(from)).transpose()
    }
}

/// A struct that is its fields in order.
macro_rules! wire_struct {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* pub $field:ident: $t:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name { $($(#[$field_meta])* pub $field: $t,)* }
        impl $crate::Wire for $name {
            fn put(&self, out: &mut alloc::vec::Vec<u8>) {
                $($crate::Wire::put(&self.$field, out);)*
            }
            fn get(from: &mut $crate::Reader<'_>) -> Result<Self, $crate::WireError> {
                Ok(Self { $($field: $crate::Wire::get(from)?,)* })
            }
        }
    };
}
pub(crate) use wire_struct;

/// An enum without fields: a byte on the wire, a word for people.
macro_rules! wire_words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $number:literal $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_meta])* $variant = $number,)* }
        impl $name {
            /// Every variant, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
            /// The word for people and for JSON.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.as_str())
            }
        }
        impl $crate::Wire for $name {
            fn put(&self, out: &mut alloc::vec::Vec<u8>) {
                out.push(*self as u8);
            }
            fn get(from: &mut $crate::Reader<'_>) -> Result<Self, $crate::WireError> {
                match <u8 as $crate::Wire>::get(from)? {
                    $($number => Ok(Self::$variant),)*
                    v => Err($crate::WireError::Variant(v)),
                }
            }
        }
    };
}
pub(crate) use wire_words;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn nested_values_come_back() {
        let value: Vec<Vec<u8>> = vec![b"a".to_vec(), vec![], vec![0xff; 300]];
        assert_eq!(Vec::<Vec<u8>>::from_bytes(&value.to_bytes()), Ok(value));
        assert_eq!(Option::<u64>::from_bytes(&Some(7u64).to_bytes()), Ok(Some(7)));
    }

    #[test]
    fn every_prefix_is_short_and_every_extension_trails() {
        let bytes = vec![b"one".to_vec(), b"two".to_vec()].to_bytes();
        for n in 0..bytes.len() {
            assert_eq!(Vec::<Vec<u8>>::from_bytes(&bytes[..n]), Err(WireError::Short));
        }
        let mut longer = bytes;
        longer.push(0);
        assert_eq!(Vec::<Vec<u8>>::from_bytes(&longer), Err(WireError::Trailing));
    }

    #[test]
    fn a_lying_length_reserves_nothing() {
        assert_eq!(Vec::<Vec<u8>>::from_bytes(&u32::MAX.to_bytes()), Err(WireError::Short));
        assert_eq!(bool::from_bytes(&[2]), Err(WireError::Variant(2)));
    }
}
