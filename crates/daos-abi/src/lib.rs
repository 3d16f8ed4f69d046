//! The binary interface: the types, constants and error numbers that a program compiled for DAOS expects.
//!
//! Names are those of the C interface, so that a reader who knows DAOS finds them. Sizes and offsets are asserted where
//! each structure is defined: a program that was compiled elsewhere shares memory with us, so a layout that drifts must
//! not compile. The crate needs nothing but the standard library. `isotach-libdaos` offers this interface and has the C
//! header that says the same: its `tests/c/layout.c` checks the layouts, and the tests in `header` the numbers. `isotach-engine-daos`
//! calls it. `stored` says how that library keeps what it keeps of a container.

#![expect(non_camel_case_types, reason = "the types carry the names that C programs use")]

/// Declares structures of C: name and size, and of each field the offset, name, type and meaning.
macro_rules! structures {
    ($($(#[$attribute:meta])* $structure:ident = $size:literal {
        $($offset:literal $field:ident: $type:ty, $meaning:literal;)*
    })*) => {
        $(
            $(#[$attribute])*
            #[repr(C)]
            pub struct $structure {
                $(
                    #[doc = $meaning]
                    pub $field: $type,
                )*
            }

            const _: () = {
                assert!(size_of::<$structure>() == $size);
                $(assert!(core::mem::offset_of!($structure, $field) == $offset);)*
            };
        )*
    };
}

/// Declares constants: name, type and number, and what each stands for.
macro_rules! numbers {
    ($($name:ident: $type:ty = $number:expr, $text:literal;)*) => {
        $(
            #[doc = $text]
            pub const $name: $type = $number;
        )*
    };
}

pub mod acl;
pub mod classes;
pub mod constants;
pub mod dfs;
pub mod errors;
pub mod hash;
#[cfg(test)]
mod header;
pub mod info;
pub mod properties;
pub mod property_names;
pub mod stored;
pub mod types;
