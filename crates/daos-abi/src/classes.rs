//! Object types, object classes, hints and the bits of an object identifier.
//!
//! A class is a redundancy in the upper 8 bits and a number of groups in the lower 24; the numbers below 2^24 are
//! classes that the library chooses the rest of. The C header has a name for every class; here are those in common
//! use, and [`object_class`] for the others.

use core::ffi::c_int;

use crate::types::{daos_obj_id_t, daos_oclass_hints_t, daos_oclass_id_t};

/// An object with dkeys and akeys by hash.
pub const DAOS_OT_MULTI_HASHED: c_int = 0;
/// The table of object identifiers of a snapshot.
pub const DAOS_OT_OIT: c_int = 1;
/// An object with 64-bit dkeys.
pub const DAOS_OT_DKEY_UINT64: c_int = 2;
/// An object with 64-bit akeys.
pub const DAOS_OT_AKEY_UINT64: c_int = 3;
/// An object with 64-bit dkeys and akeys.
pub const DAOS_OT_MULTI_UINT64: c_int = 4;
/// An object with dkeys in order.
pub const DAOS_OT_DKEY_LEXICAL: c_int = 5;
/// An object with akeys in order.
pub const DAOS_OT_AKEY_LEXICAL: c_int = 6;
/// An object with dkeys and akeys in order.
pub const DAOS_OT_MULTI_LEXICAL: c_int = 7;
/// A key-value object, keys by hash.
pub const DAOS_OT_KV_HASHED: c_int = 8;
/// A key-value object, 64-bit keys.
pub const DAOS_OT_KV_UINT64: c_int = 9;
/// A key-value object, keys in order.
pub const DAOS_OT_KV_LEXICAL: c_int = 10;
/// An array that stores its cell and chunk sizes.
pub const DAOS_OT_ARRAY: c_int = 11;
/// An array whose sizes the caller keeps.
pub const DAOS_OT_ARRAY_ATTR: c_int = 12;
/// An array of bytes whose sizes the caller keeps.
pub const DAOS_OT_ARRAY_BYTE: c_int = 13;
/// The table of object identifiers of a snapshot, newer layout.
pub const DAOS_OT_OIT_V2: c_int = 14;
/// The highest object type.
pub const DAOS_OT_MAX: c_int = DAOS_OT_OIT_V2;

/// Redundancy as the container says.
pub const DAOS_OCH_RDD_DEF: daos_oclass_hints_t = 1;
/// No redundancy.
pub const DAOS_OCH_RDD_NO: daos_oclass_hints_t = 2;
/// Replication.
pub const DAOS_OCH_RDD_RP: daos_oclass_hints_t = 4;
/// Erasure coding.
pub const DAOS_OCH_RDD_EC: daos_oclass_hints_t = 8;
/// As many groups as fit the kind of object.
pub const DAOS_OCH_SHD_DEF: daos_oclass_hints_t = 16;
/// At most four groups.
pub const DAOS_OCH_SHD_TINY: daos_oclass_hints_t = 32;
/// A quarter of the targets.
pub const DAOS_OCH_SHD_REG: daos_oclass_hints_t = 64;
/// Half of the targets.
pub const DAOS_OCH_SHD_HI: daos_oclass_hints_t = 128;
/// Four fifths of the targets.
pub const DAOS_OCH_SHD_EXT: daos_oclass_hints_t = 256;
/// All targets.
pub const DAOS_OCH_SHD_MAX: daos_oclass_hints_t = 512;

/// Below this bit of the upper half of an identifier the bits are the caller's.
pub const OID_FMT_META_SHIFT: u32 = 32;
/// Where the redundancy starts in the upper half of an identifier.
pub const OID_FMT_CLASS_SHIFT: u32 = 48;
/// Where the type starts in the upper half of an identifier.
pub const OID_FMT_TYPE_SHIFT: u32 = 56;
/// Where the redundancy starts in a class.
pub const OC_REDUN_SHIFT: u32 = 24;
/// The number of groups that means as many as there is room for.
pub const MAX_NUM_GROUPS: u32 = 0xffff;
/// The most bytes that the name of a class has, with the zero that ends it.
pub const MAX_OBJ_CLASS_NAME_LEN: usize = 24;

/// The class with the given redundancy and number of groups.
#[must_use]
pub const fn object_class(redundancy: u32, groups: u32) -> daos_oclass_id_t {
    (redundancy << OC_REDUN_SHIFT) | groups
}

/// The class that an identifier carries.
#[must_use]
pub const fn daos_obj_id2class(oid: daos_obj_id_t) -> daos_oclass_id_t {
    let redundancy = (oid.hi >> OID_FMT_CLASS_SHIFT) & 0xff;
    let groups = (oid.hi >> OID_FMT_META_SHIFT) & 0xffff;
    object_class(redundancy as u32, groups as u32)
}

/// The type that an identifier carries.
#[must_use]
pub const fn daos_obj_id2type(oid: daos_obj_id_t) -> c_int {
    (oid.hi >> OID_FMT_TYPE_SHIFT) as c_int
}

/// No class: the library chooses.
pub const OC_UNKNOWN: daos_oclass_id_t = 0;
/// One copy.
pub const OR_RP_1: u32 = 1;
/// 2 copies.
pub const OR_RP_2: u32 = 8;
/// 3 copies.
pub const OR_RP_3: u32 = 9;
/// 4 copies.
pub const OR_RP_4: u32 = 10;
/// 5 copies.
pub const OR_RP_5: u32 = 11;
/// 6 copies.
pub const OR_RP_6: u32 = 12;
/// 8 copies.
pub const OR_RP_8: u32 = 13;
/// 12 copies.
pub const OR_RP_12: u32 = 14;
/// 16 copies.
pub const OR_RP_16: u32 = 15;
/// 24 copies.
pub const OR_RP_24: u32 = 16;
/// 32 copies.
pub const OR_RP_32: u32 = 17;
/// 48 copies.
pub const OR_RP_48: u32 = 18;
/// 64 copies.
pub const OR_RP_64: u32 = 19;
/// 128 copies.
pub const OR_RP_128: u32 = 20;
/// 2 data cells and 1 of parity.
pub const OR_RS_2P1: u32 = 0x20;
/// 2 data cells and 2 of parity.
pub const OR_RS_2P2: u32 = 0x21;
/// 4 data cells and 1 of parity.
pub const OR_RS_4P1: u32 = 0x22;
/// 4 data cells and 2 of parity.
pub const OR_RS_4P2: u32 = 0x23;
/// 8 data cells and 1 of parity.
pub const OR_RS_8P1: u32 = 0x24;
/// 8 data cells and 2 of parity.
pub const OR_RS_8P2: u32 = 0x25;
/// 16 data cells and 1 of parity.
pub const OR_RS_16P1: u32 = 0x26;
/// 16 data cells and 2 of parity.
pub const OR_RS_16P2: u32 = 0x27;
/// 4 data cells and 3 of parity.
pub const OR_RS_4P3: u32 = 0x28;
/// 8 data cells and 3 of parity.
pub const OR_RS_8P3: u32 = 0x29;
/// 16 data cells and 3 of parity.
pub const OR_RS_16P3: u32 = 0x2a;

/// One group, one copy.
pub const OC_TINY: daos_oclass_id_t = 51;
/// Few groups, one copy.
pub const OC_SMALL: daos_oclass_id_t = 52;
/// Many groups, one copy.
pub const OC_LARGE: daos_oclass_id_t = 53;
/// As many groups as there is room for, one copy.
pub const OC_MAX: daos_oclass_id_t = 54;
/// One group, replicated.
pub const OC_RP_TINY: daos_oclass_id_t = 60;
/// Few groups, replicated.
pub const OC_RP_SMALL: daos_oclass_id_t = 61;
/// Many groups, replicated.
pub const OC_RP_LARGE: daos_oclass_id_t = 62;
/// As many groups as there is room for, replicated.
pub const OC_RP_MAX: daos_oclass_id_t = 63;
/// One group, replicated for many readers.
pub const OC_RP_SF_TINY: daos_oclass_id_t = 70;
/// Few groups, replicated for many readers.
pub const OC_RP_SF_SMALL: daos_oclass_id_t = 71;
/// Many groups, replicated for many readers.
pub const OC_RP_SF_LARGE: daos_oclass_id_t = 72;
/// As many groups as there is room for, replicated for many readers.
pub const OC_RP_SF_MAX: daos_oclass_id_t = 73;
/// One group with very many copies.
pub const OC_RP_XSF: daos_oclass_id_t = 80;
/// One group, erasure-coded.
pub const OC_EC_TINY: daos_oclass_id_t = 100;
/// Few groups, erasure-coded.
pub const OC_EC_SMALL: daos_oclass_id_t = 101;
/// Many groups, erasure-coded.
pub const OC_EC_LARGE: daos_oclass_id_t = 102;
/// As many groups as there is room for, erasure-coded.
pub const OC_EC_MAX: daos_oclass_id_t = 103;
/// Numbers from here on are reserved.
pub const OC_RESERVED: daos_oclass_id_t = 1 << 30;

/// One copy, 1 group.
pub const OC_S1: daos_oclass_id_t = object_class(OR_RP_1, 1);
/// One copy, 2 groups.
pub const OC_S2: daos_oclass_id_t = object_class(OR_RP_1, 2);
/// One copy, 4 groups.
pub const OC_S4: daos_oclass_id_t = object_class(OR_RP_1, 4);
/// One copy, 6 groups.
pub const OC_S6: daos_oclass_id_t = object_class(OR_RP_1, 6);
/// One copy, 8 groups.
pub const OC_S8: daos_oclass_id_t = object_class(OR_RP_1, 8);
/// One copy, 12 groups.
pub const OC_S12: daos_oclass_id_t = object_class(OR_RP_1, 12);
/// One copy, 16 groups.
pub const OC_S16: daos_oclass_id_t = object_class(OR_RP_1, 16);
/// One copy, 32 groups.
pub const OC_S32: daos_oclass_id_t = object_class(OR_RP_1, 32);
/// One copy, as many groups as there is room for.
pub const OC_SX: daos_oclass_id_t = object_class(OR_RP_1, MAX_NUM_GROUPS);
/// 2 copies, 1 group.
pub const OC_RP_2G1: daos_oclass_id_t = object_class(OR_RP_2, 1);
/// 2 copies, as many groups as there is room for.
pub const OC_RP_2GX: daos_oclass_id_t = object_class(OR_RP_2, MAX_NUM_GROUPS);
/// 3 copies, 1 group.
pub const OC_RP_3G1: daos_oclass_id_t = object_class(OR_RP_3, 1);
/// 3 copies, as many groups as there is room for.
pub const OC_RP_3GX: daos_oclass_id_t = object_class(OR_RP_3, MAX_NUM_GROUPS);
/// 2 data cells and 1 of parity, 1 group.
pub const OC_EC_2P1G1: daos_oclass_id_t = object_class(OR_RS_2P1, 1);
/// 2 data cells and 1 of parity, as many groups as there is room for.
pub const OC_EC_2P1GX: daos_oclass_id_t = object_class(OR_RS_2P1, MAX_NUM_GROUPS);
/// 4 data cells and 2 of parity, 1 group.
pub const OC_EC_4P2G1: daos_oclass_id_t = object_class(OR_RS_4P2, 1);
/// 4 data cells and 2 of parity, as many groups as there is room for.
pub const OC_EC_4P2GX: daos_oclass_id_t = object_class(OR_RS_4P2, MAX_NUM_GROUPS);
/// 8 data cells and 2 of parity, 1 group.
pub const OC_EC_8P2G1: daos_oclass_id_t = object_class(OR_RS_8P2, 1);
/// 8 data cells and 2 of parity, as many groups as there is room for.
pub const OC_EC_8P2GX: daos_oclass_id_t = object_class(OR_RS_8P2, MAX_NUM_GROUPS);

const _: () = {
    assert!(OC_S1 == 0x0100_0001 && OC_S2 == 0x0100_0002 && OC_SX == 0x0100_ffff);
    assert!(OC_RP_2G1 == 0x0800_0001 && OC_RP_2GX == 0x0800_ffff && OC_RP_3G1 == 0x0900_0001);
    assert!(OC_EC_2P1G1 == 0x2000_0001 && OC_EC_8P2GX == 0x2500_ffff);
    assert!(OR_RP_128 == 20 && OR_RS_16P3 == 0x2a);
    let key_value = daos_obj_id_t { lo: 0, hi: 0x0801_0001_0000_0000 };
    assert!(daos_obj_id2class(key_value) == OC_S1 && daos_obj_id2type(key_value) == DAOS_OT_KV_HASHED);
};
