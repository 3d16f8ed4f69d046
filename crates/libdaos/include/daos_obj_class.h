/*
 * Object classes: how many copies or which erasure code, and over how many groups of targets. The number of a class
 * has the redundancy in its upper 8 bits and the number of groups in the others.
 */
#ifndef ISOTACH_DAOS_OBJ_CLASS_H
#define ISOTACH_DAOS_OBJ_CLASS_H

#include <daos_types.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* With the zero that ends the name. */
#define MAX_OBJ_CLASS_NAME_LEN 24

/* As many groups as there is room for. */
#define MAX_NUM_GROUPS 0xffff
#define OC_REDUN_SHIFT 24
#define OBJ_CLASS_DEF(redundancy, groups) (((redundancy) << OC_REDUN_SHIFT) | (groups))

/* The nine classes of one redundancy, from 1 to 32 groups and with as many as there is room for. */
#define ISOTACH_CLASSES(name, redundancy)                                                                              \
	name##1 = OBJ_CLASS_DEF(redundancy, 1),                                                                        \
	name##2 = OBJ_CLASS_DEF(redundancy, 2),                                                                        \
	name##4 = OBJ_CLASS_DEF(redundancy, 4),                                                                        \
	name##6 = OBJ_CLASS_DEF(redundancy, 6),                                                                        \
	name##8 = OBJ_CLASS_DEF(redundancy, 8),                                                                        \
	name##12 = OBJ_CLASS_DEF(redundancy, 12),                                                                      \
	name##16 = OBJ_CLASS_DEF(redundancy, 16),                                                                      \
	name##32 = OBJ_CLASS_DEF(redundancy, 32),                                                                      \
	name##X = OBJ_CLASS_DEF(redundancy, MAX_NUM_GROUPS)

/* First redundancies, then classes that the library chooses the rest of, then classes that say everything. */
enum daos_obj_redun {
	OC_UNKNOWN = 0,
	OR_RP_1 = 1,
	OR_RP_2 = 8,
	OR_RP_3 = 9,
	OR_RP_4 = 10,
	OR_RP_5 = 11,
	OR_RP_6 = 12,
	OR_RP_8 = 13,
	OR_RP_12 = 14,
	OR_RP_16 = 15,
	OR_RP_24 = 16,
	OR_RP_32 = 17,
	OR_RP_48 = 18,
	OR_RP_64 = 19,
	OR_RP_128 = 20,
	OR_RS_2P1 = 0x20,
	OR_RS_2P2 = 0x21,
	OR_RS_4P1 = 0x22,
	OR_RS_4P2 = 0x23,
	OR_RS_8P1 = 0x24,
	OR_RS_8P2 = 0x25,
	OR_RS_16P1 = 0x26,
	OR_RS_16P2 = 0x27,
	OR_RS_4P3 = 0x28,
	OR_RS_8P3 = 0x29,
	OR_RS_16P3 = 0x2a,

	OC_TINY = 51,
	OC_SMALL = 52,
	OC_LARGE = 53,
	OC_MAX = 54,
	OC_RP_TINY = 60,
	OC_RP_SMALL = 61,
	OC_RP_LARGE = 62,
	OC_RP_MAX = 63,
	OC_RP_SF_TINY = 70,
	OC_RP_SF_SMALL = 71,
	OC_RP_SF_LARGE = 72,
	OC_RP_SF_MAX = 73,
	OC_RP_XSF = 80,
	OC_EC_TINY = 100,
	OC_EC_SMALL = 101,
	OC_EC_LARGE = 102,
	OC_EC_MAX = 103,

	ISOTACH_CLASSES(OC_S, OR_RP_1),
	ISOTACH_CLASSES(OC_RP_2G, OR_RP_2),
	ISOTACH_CLASSES(OC_RP_3G, OR_RP_3),
	ISOTACH_CLASSES(OC_RP_4G, OR_RP_4),
	ISOTACH_CLASSES(OC_RP_5G, OR_RP_5),
	ISOTACH_CLASSES(OC_RP_6G, OR_RP_6),
	ISOTACH_CLASSES(OC_EC_2P1G, OR_RS_2P1),
	ISOTACH_CLASSES(OC_EC_2P2G, OR_RS_2P2),
	ISOTACH_CLASSES(OC_EC_4P1G, OR_RS_4P1),
	ISOTACH_CLASSES(OC_EC_4P2G, OR_RS_4P2),
	ISOTACH_CLASSES(OC_EC_8P1G, OR_RS_8P1),
	ISOTACH_CLASSES(OC_EC_8P2G, OR_RS_8P2),
	ISOTACH_CLASSES(OC_EC_16P1G, OR_RS_16P1),
	ISOTACH_CLASSES(OC_EC_16P2G, OR_RS_16P2),
	ISOTACH_CLASSES(OC_EC_4P3G, OR_RS_4P3),
	ISOTACH_CLASSES(OC_EC_8P3G, OR_RS_8P3),
	ISOTACH_CLASSES(OC_EC_16P3G, OR_RS_16P3),
	OC_RP_8G1 = OBJ_CLASS_DEF(OR_RP_8, 1),
	OC_RP_12G1 = OBJ_CLASS_DEF(OR_RP_12, 1),
	OC_RP_16G1 = OBJ_CLASS_DEF(OR_RP_16, 1),
	OC_RP_24G1 = OBJ_CLASS_DEF(OR_RP_24, 1),
	OC_RP_32G1 = OBJ_CLASS_DEF(OR_RP_32, 1),
	OC_RP_48G1 = OBJ_CLASS_DEF(OR_RP_48, 1),
	OC_RP_64G1 = OBJ_CLASS_DEF(OR_RP_64, 1),
	OC_RP_128G1 = OBJ_CLASS_DEF(OR_RP_128, 1),

	OC_RESERVED = 1 << 30
};

#undef ISOTACH_CLASSES

typedef uint32_t daos_oclass_id_t;
typedef uint16_t daos_oclass_hints_t;

/* From what to choose a class when none is named. */
enum {
	DAOS_OCH_RDD_DEF = 1,
	DAOS_OCH_RDD_NO = 2,
	DAOS_OCH_RDD_RP = 4,
	DAOS_OCH_RDD_EC = 8,
	DAOS_OCH_SHD_DEF = 16,
	DAOS_OCH_SHD_TINY = 32,
	DAOS_OCH_SHD_REG = 64,
	DAOS_OCH_SHD_HI = 128,
	DAOS_OCH_SHD_EXT = 256,
	DAOS_OCH_SHD_MAX = 512
};

/* The number of a class by its name without OC_, for instance "RP_2G1"; 0 if there is no such class. */
int daos_oclass_name2id(const char *name);
/* Writes the name of a class, at most MAX_OBJ_CLASS_NAME_LEN bytes; returns 0, or -1 if there is no such class. */
int daos_oclass_id2name(daos_oclass_id_t cid, char *name);

#if defined(__cplusplus)
}
#endif

#endif
