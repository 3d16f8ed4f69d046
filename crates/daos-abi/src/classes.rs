//! Object types, object classes, hints and the bits of an object identifier.
//!
//! A class is a redundancy in the upper 8 bits and a number of groups in the lower 24; the numbers below 2^24 are
//! classes that the library chooses the rest of. The C header has a name for every class; here [`object_class`] composes them.

use core::ffi::c_int;

use crate::types::{daos_oclass_hints_t, daos_oclass_id_t};

numbers! {
    DAOS_OT_MULTI_HASHED: c_int = 0, "An object with dkeys and akeys by hash.";
    DAOS_OT_OIT: c_int = 1, "The table of object identifiers of a snapshot.";
    DAOS_OT_DKEY_UINT64: c_int = 2, "An object with 64-bit dkeys.";
    DAOS_OT_AKEY_UINT64: c_int = 3, "An object with 64-bit akeys.";
    DAOS_OT_MULTI_UINT64: c_int = 4, "An object with 64-bit dkeys and akeys.";
    DAOS_OT_DKEY_LEXICAL: c_int = 5, "An object with dkeys in order.";
    DAOS_OT_AKEY_LEXICAL: c_int = 6, "An object with akeys in order.";
    DAOS_OT_MULTI_LEXICAL: c_int = 7, "An object with dkeys and akeys in order.";
    DAOS_OT_KV_HASHED: c_int = 8, "A key-value object, keys by hash.";
    DAOS_OT_KV_UINT64: c_int = 9, "A key-value object, 64-bit keys.";
    DAOS_OT_KV_LEXICAL: c_int = 10, "A key-value object, keys in order.";
    DAOS_OT_ARRAY: c_int = 11, "An array that stores its cell and chunk sizes.";
    DAOS_OT_ARRAY_ATTR: c_int = 12, "An array whose sizes the caller keeps.";
    DAOS_OT_ARRAY_BYTE: c_int = 13, "An array of bytes whose sizes the caller keeps.";
    DAOS_OT_OIT_V2: c_int = 14, "The table of object identifiers of a snapshot, newer layout.";
    DAOS_OT_MAX: c_int = DAOS_OT_OIT_V2, "The highest object type.";

    DAOS_OCH_RDD_DEF: daos_oclass_hints_t = 1, "Redundancy as the container says.";
    DAOS_OCH_RDD_NO: daos_oclass_hints_t = 2, "No redundancy.";
    DAOS_OCH_RDD_RP: daos_oclass_hints_t = 4, "Replication.";
    DAOS_OCH_RDD_EC: daos_oclass_hints_t = 8, "Erasure coding.";
    DAOS_OCH_SHD_DEF: daos_oclass_hints_t = 16, "As many groups as fit the kind of object.";
    DAOS_OCH_SHD_TINY: daos_oclass_hints_t = 32, "At most four groups.";
    DAOS_OCH_SHD_REG: daos_oclass_hints_t = 64, "A quarter of the targets.";
    DAOS_OCH_SHD_HI: daos_oclass_hints_t = 128, "Half of the targets.";
    DAOS_OCH_SHD_EXT: daos_oclass_hints_t = 256, "Four fifths of the targets.";
    DAOS_OCH_SHD_MAX: daos_oclass_hints_t = 512, "All targets.";

    OID_FMT_META_SHIFT: u32 = 32,
        "Below this bit of the upper half of an identifier the bits are the caller's.";
    OID_FMT_CLASS_SHIFT: u32 = 48, "Where the redundancy starts in the upper half of an identifier.";
    OID_FMT_TYPE_SHIFT: u32 = 56, "Where the type starts in the upper half of an identifier.";
    OC_REDUN_SHIFT: u32 = 24, "Where the redundancy starts in a class.";
    MAX_NUM_GROUPS: u32 = 0xffff, "The number of groups that means as many as there is room for.";
    MAX_OBJ_CLASS_NAME_LEN: usize = 24,
        "The most bytes that the name of a class has, with the zero that ends it.";
}

/// The class with the given redundancy and number of groups.
#[must_use]
pub const fn object_class(redundancy: u32, groups: u32) -> daos_oclass_id_t {
    (redundancy << OC_REDUN_SHIFT) | groups
}

numbers! {
    OC_UNKNOWN: daos_oclass_id_t = 0, "No class: the library chooses.";
    OR_RP_1: u32 = 1, "One copy.";
    OR_RP_2: u32 = 8, "2 copies.";
    OR_RP_3: u32 = 9, "3 copies.";
    OR_RP_4: u32 = 10, "4 copies.";
    OR_RP_5: u32 = 11, "5 copies.";
    OR_RP_6: u32 = 12, "6 copies.";
    OR_RP_8: u32 = 13, "8 copies.";
    OR_RP_12: u32 = 14, "12 copies.";
    OR_RP_16: u32 = 15, "16 copies.";
    OR_RP_24: u32 = 16, "24 copies.";
    OR_RP_32: u32 = 17, "32 copies.";
    OR_RP_48: u32 = 18, "48 copies.";
    OR_RP_64: u32 = 19, "64 copies.";
    OR_RP_128: u32 = 20, "128 copies.";
    OR_RS_2P1: u32 = 0x20, "2 data cells and 1 of parity.";
    OR_RS_2P2: u32 = 0x21, "2 data cells and 2 of parity.";
    OR_RS_4P1: u32 = 0x22, "4 data cells and 1 of parity.";
    OR_RS_4P2: u32 = 0x23, "4 data cells and 2 of parity.";
    OR_RS_8P1: u32 = 0x24, "8 data cells and 1 of parity.";
    OR_RS_8P2: u32 = 0x25, "8 data cells and 2 of parity.";
    OR_RS_16P1: u32 = 0x26, "16 data cells and 1 of parity.";
    OR_RS_16P2: u32 = 0x27, "16 data cells and 2 of parity.";
    OR_RS_4P3: u32 = 0x28, "4 data cells and 3 of parity.";
    OR_RS_8P3: u32 = 0x29, "8 data cells and 3 of parity.";
    OR_RS_16P3: u32 = 0x2a, "16 data cells and 3 of parity.";

    OC_TINY: daos_oclass_id_t = 51, "One group, one copy.";
    OC_SMALL: daos_oclass_id_t = 52, "Few groups, one copy.";
    OC_LARGE: daos_oclass_id_t = 53, "Many groups, one copy.";
    OC_MAX: daos_oclass_id_t = 54, "As many groups as there is room for, one copy.";
    OC_RP_TINY: daos_oclass_id_t = 60, "One group, replicated.";
    OC_RP_SMALL: daos_oclass_id_t = 61, "Few groups, replicated.";
    OC_RP_LARGE: daos_oclass_id_t = 62, "Many groups, replicated.";
    OC_RP_MAX: daos_oclass_id_t = 63, "As many groups as there is room for, replicated.";
    OC_RP_SF_TINY: daos_oclass_id_t = 70, "One group, replicated for many readers.";
    OC_RP_SF_SMALL: daos_oclass_id_t = 71, "Few groups, replicated for many readers.";
    OC_RP_SF_LARGE: daos_oclass_id_t = 72, "Many groups, replicated for many readers.";
    OC_RP_SF_MAX: daos_oclass_id_t = 73, "As many groups as there is room for, replicated for many readers.";
    OC_RP_XSF: daos_oclass_id_t = 80, "One group with very many copies.";
    OC_EC_TINY: daos_oclass_id_t = 100, "One group, erasure-coded.";
    OC_EC_SMALL: daos_oclass_id_t = 101, "Few groups, erasure-coded.";
    OC_EC_LARGE: daos_oclass_id_t = 102, "Many groups, erasure-coded.";
    OC_EC_MAX: daos_oclass_id_t = 103, "As many groups as there is room for, erasure-coded.";
    OC_RESERVED: daos_oclass_id_t = 1 << 30, "Numbers from here on are reserved.";
}

const _: () = {
    assert!(object_class(OR_RP_1, 1) == 0x0100_0001 && object_class(OR_RP_1, MAX_NUM_GROUPS) == 0x0100_ffff);
    assert!(object_class(OR_RP_2, MAX_NUM_GROUPS) == 0x0800_ffff && object_class(OR_RP_3, 1) == 0x0900_0001);
    assert!(
        object_class(OR_RS_2P1, 1) == 0x2000_0001 && object_class(OR_RS_8P2, MAX_NUM_GROUPS) == 0x2500_ffff
    );
};
