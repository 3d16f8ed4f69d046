/*
 * Access control lists. In text an entry is type:flags:principal:permissions, for instance "A::user@:rw" and
 * "A:G:group@:r".
 */
#ifndef ISOTACH_DAOS_SECURITY_H
#define ISOTACH_DAOS_SECURITY_H

#include <stdio.h>

#include <daos_types.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define DAOS_ACL_VERSION 1
#define DAOS_ACL_MAX_PRINCIPAL_LEN 255
#define DAOS_ACL_MAX_PRINCIPAL_BUF_LEN (DAOS_ACL_MAX_PRINCIPAL_LEN + 1)
#define DAOS_ACL_MAX_ACE_LEN 65536
#define DAOS_ACL_MAX_ACE_STR_LEN (DAOS_ACL_MAX_PRINCIPAL_LEN + 64)

#define DAOS_ACL_PRINCIPAL_OWNER "OWNER@"
#define DAOS_ACL_PRINCIPAL_OWNER_GRP "GROUP@"
#define DAOS_ACL_PRINCIPAL_EVERYONE "EVERYONE@"

/* The order is that of entries in a list. */
enum daos_acl_principal_type {
	DAOS_ACL_OWNER = 0,
	DAOS_ACL_USER = 1,
	DAOS_ACL_OWNER_GROUP = 2,
	DAOS_ACL_GROUP = 3,
	DAOS_ACL_EVERYONE = 4,
	NUM_DAOS_ACL_TYPES = 5
};

enum daos_acl_access_type {
	DAOS_ACL_ACCESS_ALLOW = 1,
	DAOS_ACL_ACCESS_AUDIT = 2,
	DAOS_ACL_ACCESS_ALARM = 4
};

#define DAOS_ACL_ACCESS_ALL 7

enum daos_acl_flags {
	DAOS_ACL_FLAG_GROUP = 1,
	DAOS_ACL_FLAG_POOL_INHERIT = 2,
	DAOS_ACL_FLAG_ACCESS_FAIL = 4,
	DAOS_ACL_FLAG_ACCESS_SUCCESS = 8
};

#define DAOS_ACL_FLAG_ALL 15

/* In text r, w, c, d, t, T, a, A, o. */
enum daos_acl_perm {
	DAOS_ACL_PERM_READ = 1,
	DAOS_ACL_PERM_WRITE = 2,
	DAOS_ACL_PERM_CREATE_CONT = 4,
	DAOS_ACL_PERM_DEL_CONT = 8,
	DAOS_ACL_PERM_GET_PROP = 16,
	DAOS_ACL_PERM_SET_PROP = 32,
	DAOS_ACL_PERM_GET_ACL = 64,
	DAOS_ACL_PERM_SET_ACL = 128,
	DAOS_ACL_PERM_SET_OWNER = 256
};

#define DAOS_ACL_PERM_POOL_ALL 0x1f
#define DAOS_ACL_PERM_CONT_ALL 0x1fb
#define DAOS_ACL_PERM_ALL (DAOS_ACL_PERM_POOL_ALL | DAOS_ACL_PERM_CONT_ALL)

/* C++ has no arrays without a length; compilers of both languages take one of length 0. */
#if defined(__cplusplus)
#define ISOTACH_REST 0
#else
#define ISOTACH_REST
#endif

/* dal_len is the number of bytes of entries. */
struct daos_acl {
	uint16_t dal_ver;
	uint16_t dal_reserv;
	uint32_t dal_len;
	uint8_t dal_ace[ISOTACH_REST];
};

/* dae_principal_len counts the zero that ends the name and what fills it up to a multiple of eight. */
struct daos_ace {
	uint8_t dae_access_types;
	uint8_t dae_principal_type;
	uint16_t dae_principal_len;
	uint16_t dae_access_flags;
	uint16_t dae_reserv;
	uint64_t dae_allow_perms;
	uint64_t dae_audit_perms;
	uint64_t dae_alarm_perms;
	char dae_principal[ISOTACH_REST];
};

#undef ISOTACH_REST

/* What these functions return or write, the caller frees. */
struct daos_acl *daos_acl_create(struct daos_ace *aces[], uint16_t num_aces);
struct daos_acl *daos_acl_dup(struct daos_acl *acl);
void daos_acl_free(struct daos_acl *acl);
ssize_t daos_acl_get_size(struct daos_acl *acl);
struct daos_ace *daos_acl_get_next_ace(struct daos_acl *acl, struct daos_ace *current_ace);
int daos_acl_get_ace_for_principal(struct daos_acl *acl, enum daos_acl_principal_type type, const char *principal,
				   struct daos_ace **ace);
int daos_acl_add_ace(struct daos_acl **acl, struct daos_ace *new_ace);
int daos_acl_remove_ace(struct daos_acl **acl, enum daos_acl_principal_type type, const char *principal_name);
int daos_acl_validate(struct daos_acl *acl);
int daos_acl_pool_validate(struct daos_acl *acl);
int daos_acl_cont_validate(struct daos_acl *acl);
int daos_acl_from_strs(const char **ace_strs, size_t ace_nr, struct daos_acl **acl);
int daos_acl_to_strs(struct daos_acl *acl, char ***ace_strs, size_t *ace_nr);

struct daos_ace *daos_ace_create(enum daos_acl_principal_type type, const char *principal_name);
void daos_ace_free(struct daos_ace *ace);
ssize_t daos_ace_get_size(struct daos_ace *ace);
bool daos_ace_is_valid(struct daos_ace *ace);
int daos_ace_from_str(const char *str, struct daos_ace **ace);
int daos_ace_to_str(struct daos_ace *ace, char *buf, size_t buf_len);
/* Print a list, or an entry behind so many tabs, for people to read. */
void daos_acl_dump(struct daos_acl *acl);
void daos_ace_dump(struct daos_ace *ace, unsigned int tabs);
/* Missing: -DER_NOSYS. */
int daos_acl_to_stream(FILE *stream, struct daos_acl *acl, bool verbose);
/* The principal of an entry as its text has it; the caller does not free it. */
const char *daos_ace_get_principal_str(struct daos_ace *ace);

/* Whether a text is the name of a user or group: name@, or name@domain. */
bool daos_acl_principal_is_valid(const char *name);
/* What the system knows by a number or by a name; the caller frees the name. */
int daos_acl_uid_to_principal(uid_t uid, char **name);
int daos_acl_gid_to_principal(gid_t gid, char **name);
int daos_acl_principal_to_uid(const char *principal, uid_t *uid);
int daos_acl_principal_to_gid(const char *principal, gid_t *gid);
/* Read OWNER@, GROUP@, EVERYONE@, u:name@ or g:name@. The caller frees the name, which is NULL for the first three. */
int daos_acl_principal_from_str(const char *principal_str, enum daos_acl_principal_type *type, char **name);

#if defined(__cplusplus)
}
#endif

#endif
