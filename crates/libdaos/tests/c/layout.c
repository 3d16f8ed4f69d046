/*
 * Checks at compile time that our header has the sizes, offsets and numbers of DAOS's binary interface on 64-bit
 * machines. The same file can be compiled with DAOS's own headers: it then says where the two differ.
 */
#include <stddef.h>

#include <daos.h>
#include <daos_fs.h>
#include <daos_uns.h>
#include <gurt/dlog.h>
#include <gurt/hash.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "the size of " #type)
#define FIELD(type, field, at) _Static_assert(offsetof(type, field) == (at), "the offset of " #type "." #field)
#define NUMBER(name, value) _Static_assert((long long)(name) == (long long)(value), "the value of " #name)

SIZE(daos_handle_t, 8);
FIELD(daos_handle_t, cookie, 0);

SIZE(daos_obj_id_t, 16);
FIELD(daos_obj_id_t, lo, 0);
FIELD(daos_obj_id_t, hi, 8);

SIZE(daos_epoch_range_t, 16);
FIELD(daos_epoch_range_t, epr_lo, 0);
FIELD(daos_epoch_range_t, epr_hi, 8);

SIZE(d_iov_t, 24);
FIELD(d_iov_t, iov_buf, 0);
FIELD(d_iov_t, iov_buf_len, 8);
FIELD(d_iov_t, iov_len, 16);

SIZE(daos_key_t, 24);

SIZE(d_sg_list_t, 16);
FIELD(d_sg_list_t, sg_nr, 0);
FIELD(d_sg_list_t, sg_nr_out, 4);
FIELD(d_sg_list_t, sg_iovs, 8);

SIZE(d_rank_list_t, 16);
FIELD(d_rank_list_t, rl_ranks, 0);
FIELD(d_rank_list_t, rl_nr, 8);

SIZE(daos_recx_t, 16);
FIELD(daos_recx_t, rx_idx, 0);
FIELD(daos_recx_t, rx_nr, 8);

SIZE(daos_range_t, 16);
FIELD(daos_range_t, rg_idx, 0);
FIELD(daos_range_t, rg_len, 8);

SIZE(daos_array_stbuf_t, 16);
FIELD(daos_array_stbuf_t, st_size, 0);
FIELD(daos_array_stbuf_t, st_max_epoch, 8);

SIZE(daos_iod_t, 64);
FIELD(daos_iod_t, iod_name, 0);
FIELD(daos_iod_t, iod_type, 24);
FIELD(daos_iod_t, iod_size, 32);
FIELD(daos_iod_t, iod_flags, 40);
FIELD(daos_iod_t, iod_nr, 48);
FIELD(daos_iod_t, iod_recxs, 56);

SIZE(daos_iom_t, 64);
FIELD(daos_iom_t, iom_type, 0);
FIELD(daos_iom_t, iom_nr, 4);
FIELD(daos_iom_t, iom_nr_out, 8);
FIELD(daos_iom_t, iom_flags, 12);
FIELD(daos_iom_t, iom_size, 16);
FIELD(daos_iom_t, iom_recx_lo, 24);
FIELD(daos_iom_t, iom_recx_hi, 40);
FIELD(daos_iom_t, iom_recxs, 56);

SIZE(daos_array_iod_t, 32);
FIELD(daos_array_iod_t, arr_nr, 0);
FIELD(daos_array_iod_t, arr_rgs, 8);
FIELD(daos_array_iod_t, arr_nr_short_read, 16);
FIELD(daos_array_iod_t, arr_nr_read, 24);

SIZE(daos_key_desc_t, 16);
FIELD(daos_key_desc_t, kd_key_len, 0);
FIELD(daos_key_desc_t, kd_val_type, 8);

SIZE(daos_anchor_t, 120);
FIELD(daos_anchor_t, da_type, 0);
FIELD(daos_anchor_t, da_shard, 2);
FIELD(daos_anchor_t, da_flags, 4);
FIELD(daos_anchor_t, da_sub_anchors, 8);
FIELD(daos_anchor_t, da_buf, 16);

SIZE(daos_event_t, 176);
FIELD(daos_event_t, ev_error, 0);
FIELD(daos_event_t, ev_private, 8);
FIELD(daos_event_t, ev_debug, 168);

SIZE(daos_cont_info_t, 48);
FIELD(daos_cont_info_t, ci_uuid, 0);
FIELD(daos_cont_info_t, ci_lsnapshot, 16);
FIELD(daos_cont_info_t, ci_nhandles, 24);
FIELD(daos_cont_info_t, ci_nsnapshots, 28);
FIELD(daos_cont_info_t, ci_md_otime, 32);
FIELD(daos_cont_info_t, ci_md_mtime, 40);

SIZE(daos_pool_info_t, 192);
FIELD(daos_pool_info_t, pi_uuid, 0);
FIELD(daos_pool_info_t, pi_ntargets, 16);
FIELD(daos_pool_info_t, pi_nnodes, 20);
FIELD(daos_pool_info_t, pi_ndisabled, 24);
FIELD(daos_pool_info_t, pi_map_ver, 28);
FIELD(daos_pool_info_t, pi_leader, 32);
FIELD(daos_pool_info_t, pi_bits, 40);
FIELD(daos_pool_info_t, pi_space, 48);
FIELD(daos_pool_info_t, pi_rebuild_st, 136);

SIZE(struct daos_pool_space, 88);
FIELD(struct daos_pool_space, ps_space, 0);
FIELD(struct daos_pool_space, ps_free_min, 32);
FIELD(struct daos_pool_space, ps_free_max, 48);
FIELD(struct daos_pool_space, ps_free_mean, 64);
FIELD(struct daos_pool_space, ps_ntargets, 80);

SIZE(struct daos_rebuild_status, 56);
FIELD(struct daos_rebuild_status, rs_version, 0);
FIELD(struct daos_rebuild_status, rs_seconds, 4);
FIELD(struct daos_rebuild_status, rs_errno, 8);
FIELD(struct daos_rebuild_status, rs_state, 12);
FIELD(struct daos_rebuild_status, rs_fail_rank, 20);
FIELD(struct daos_rebuild_status, rs_toberb_obj_nr, 24);
FIELD(struct daos_rebuild_status, rs_obj_nr, 32);
FIELD(struct daos_rebuild_status, rs_rec_nr, 40);
FIELD(struct daos_rebuild_status, rs_size, 48);

SIZE(struct daos_pool_cont_info, 144);
FIELD(struct daos_pool_cont_info, pci_uuid, 0);
FIELD(struct daos_pool_cont_info, pci_label, 16);

SIZE(struct daos_pool_cont_info2, 208);
FIELD(struct daos_pool_cont_info2, pci_id, 0);
FIELD(struct daos_pool_cont_info2, pci_cinfo, 144);

SIZE(daos_prop_t, 16);
FIELD(daos_prop_t, dpp_nr, 0);
FIELD(daos_prop_t, dpp_reserv, 4);
FIELD(daos_prop_t, dpp_entries, 8);

SIZE(struct daos_prop_entry, 16);
FIELD(struct daos_prop_entry, dpe_type, 0);
FIELD(struct daos_prop_entry, dpe_flags, 4);
FIELD(struct daos_prop_entry, dpe_reserv, 6);
FIELD(struct daos_prop_entry, dpe_val, 8);
FIELD(struct daos_prop_entry, dpe_str, 8);
FIELD(struct daos_prop_entry, dpe_val_ptr, 8);

SIZE(struct daos_acl, 8);
FIELD(struct daos_acl, dal_ver, 0);
FIELD(struct daos_acl, dal_reserv, 2);
FIELD(struct daos_acl, dal_len, 4);
FIELD(struct daos_acl, dal_ace, 8);

SIZE(struct daos_ace, 32);
FIELD(struct daos_ace, dae_access_types, 0);
FIELD(struct daos_ace, dae_principal_type, 1);
FIELD(struct daos_ace, dae_principal_len, 2);
FIELD(struct daos_ace, dae_access_flags, 4);
FIELD(struct daos_ace, dae_allow_perms, 8);
FIELD(struct daos_ace, dae_audit_perms, 16);
FIELD(struct daos_ace, dae_alarm_perms, 24);
FIELD(struct daos_ace, dae_principal, 32);

SIZE(dfs_attr_t, 176);
FIELD(dfs_attr_t, da_id, 0);
FIELD(dfs_attr_t, da_chunk_size, 8);
FIELD(dfs_attr_t, da_oclass_id, 16);
FIELD(dfs_attr_t, da_props, 24);
FIELD(dfs_attr_t, da_mode, 32);
FIELD(dfs_attr_t, da_dir_oclass_id, 36);
FIELD(dfs_attr_t, da_file_oclass_id, 40);
FIELD(dfs_attr_t, da_hints, 44);

SIZE(dfs_iod_t, 16);
FIELD(dfs_iod_t, iod_nr, 0);
FIELD(dfs_iod_t, iod_rgs, 8);

SIZE(dfs_obj_info_t, 40);
FIELD(dfs_obj_info_t, doi_oclass_id, 0);
FIELD(dfs_obj_info_t, doi_chunk_size, 8);
FIELD(dfs_obj_info_t, doi_dir_oclass_id, 16);
FIELD(dfs_obj_info_t, doi_file_oclass_id, 20);
FIELD(dfs_obj_info_t, doi_oid, 24);

NUMBER(DAOS_PC_RO, 1);
NUMBER(DAOS_PC_RW, 2);
NUMBER(DAOS_PC_EX, 4);

NUMBER(DAOS_COO_RO, 1);
NUMBER(DAOS_COO_RW, 2);
NUMBER(DAOS_COO_EX, 4);
NUMBER(DAOS_COO_FORCE, 8);
NUMBER(DAOS_COO_RO_MDSTATS, 16);
NUMBER(DAOS_COO_EVICT, 32);
NUMBER(DAOS_COO_EVICT_ALL, 64);
NUMBER(DAOS_COO_IO_BASE_MASK, 7);
NUMBER(DAOS_COO_MASK, 255);

NUMBER(DAOS_EVS_READY, 0);
NUMBER(DAOS_EVS_ABORTED, 3);
NUMBER(DAOS_HTYPE_EQ, 1);
NUMBER(DAOS_HTYPE_OBJ, 7);
NUMBER(DAOS_HTYPE_KV, 13);
NUMBER(DPI_ENGINES_DISABLED, 8);
NUMBER(DPI_ENGINES_DEAD, 16);
NUMBER(DPI_REBUILD_MAX_LAYOUT_VER, 32);
NUMBER(DPI_SELF_HEAL_POLICY, 64);
NUMBER(DAOS_RECLAIM_TIME, 4);
NUMBER(DAOS_REINT_MODE_INCREMENTAL, 2);
NUMBER(DAOS_SCRUB_MODE_TIMED, 2);
NUMBER(DAOS_CHECKPOINT_LAZY, 2);
NUMBER(DAOS_UPGRADE_STATUS_FAILED, 3);
NUMBER(DAOS_SELF_HEAL_DELAY_REBUILD, 4);
NUMBER(DAOS_PROP_PERF_DOMAIN_ROOT, 255);
NUMBER(DAOS_PROP_PERF_DOMAIN_GROUP, 200);

NUMBER(DAOS_OO_RO, 2);
NUMBER(DAOS_OO_RW, 4);
NUMBER(DAOS_OO_EXCL, 8);

NUMBER(DAOS_COND_PUNCH, 1);
NUMBER(DAOS_COND_DKEY_INSERT, 2);
NUMBER(DAOS_COND_DKEY_UPDATE, 4);
NUMBER(DAOS_COND_DKEY_FETCH, 8);
NUMBER(DAOS_COND_AKEY_INSERT, 16);
NUMBER(DAOS_COND_AKEY_UPDATE, 32);
NUMBER(DAOS_COND_AKEY_FETCH, 64);
NUMBER(DAOS_COND_PER_AKEY, 128);
NUMBER(DAOS_COND_MASK, 0xff);

NUMBER(DAOS_COND_KEY_INSERT, 2);
NUMBER(DAOS_COND_KEY_UPDATE, 4);
NUMBER(DAOS_COND_KEY_GET, 8);
NUMBER(DAOS_COND_KEY_REMOVE, 1);

NUMBER(DAOS_TF_RDONLY, 1);
NUMBER(DAOS_TF_ZERO_COPY, 2);

NUMBER(DAOS_IOD_NONE, 0);
NUMBER(DAOS_IOD_SINGLE, 1);
NUMBER(DAOS_IOD_ARRAY, 2);
NUMBER(DAOS_REC_ANY, 0);

NUMBER(DAOS_GET_MAX, 1);
NUMBER(DAOS_GET_MIN, 2);
NUMBER(DAOS_GET_DKEY, 4);
NUMBER(DAOS_GET_AKEY, 8);
NUMBER(DAOS_GET_RECX, 16);

NUMBER(DAOS_ANCHOR_TYPE_ZERO, 0);
NUMBER(DAOS_ANCHOR_TYPE_HKEY, 1);
NUMBER(DAOS_ANCHOR_TYPE_KEY, 2);
NUMBER(DAOS_ANCHOR_TYPE_EOF, 3);

NUMBER(DAOS_EQ_WAIT, -1);
NUMBER(DAOS_EQ_NOWAIT, 0);
NUMBER(DAOS_EQ_DESTROY_FORCE, 1);
NUMBER(DAOS_SNAP_OPT_CR, 1);
NUMBER(DAOS_SNAP_OPT_OIT, 2);

NUMBER(DAOS_OT_MULTI_HASHED, 0);
NUMBER(DAOS_OT_OIT, 1);
NUMBER(DAOS_OT_DKEY_UINT64, 2);
NUMBER(DAOS_OT_AKEY_UINT64, 3);
NUMBER(DAOS_OT_MULTI_UINT64, 4);
NUMBER(DAOS_OT_DKEY_LEXICAL, 5);
NUMBER(DAOS_OT_AKEY_LEXICAL, 6);
NUMBER(DAOS_OT_MULTI_LEXICAL, 7);
NUMBER(DAOS_OT_KV_HASHED, 8);
NUMBER(DAOS_OT_KV_UINT64, 9);
NUMBER(DAOS_OT_KV_LEXICAL, 10);
NUMBER(DAOS_OT_ARRAY, 11);
NUMBER(DAOS_OT_ARRAY_ATTR, 12);
NUMBER(DAOS_OT_ARRAY_BYTE, 13);
NUMBER(DAOS_OT_OIT_V2, 14);

NUMBER(OC_S1, 0x1000001);
NUMBER(OC_S2, 0x1000002);
NUMBER(OC_S32, 0x1000020);
NUMBER(OC_SX, 0x100ffff);
NUMBER(OC_RP_2G1, 0x8000001);
NUMBER(OC_RP_2GX, 0x800ffff);
NUMBER(OC_RP_3G1, 0x9000001);
NUMBER(OC_EC_2P1G1, 0x20000001);
NUMBER(OC_EC_8P2GX, 0x2500ffff);
NUMBER(OC_RP_XSF, 80);
NUMBER(OC_EC_MAX, 103);
NUMBER(OC_RESERVED, 0x40000000);

NUMBER(OR_RP_1, 1);
NUMBER(OR_RP_2, 8);
NUMBER(OR_RP_6, 12);
NUMBER(OR_RP_8, 13);
NUMBER(OR_RP_128, 20);
NUMBER(OR_RS_2P1, 0x20);
NUMBER(OR_RS_16P2, 0x27);

NUMBER(DAOS_OCH_RDD_DEF, 1);
NUMBER(DAOS_OCH_RDD_EC, 8);
NUMBER(DAOS_OCH_SHD_DEF, 16);
NUMBER(DAOS_OCH_SHD_MAX, 512);

NUMBER(DAOS_PROP_PO_LABEL, 1);
NUMBER(DAOS_PROP_PO_MAX, 28);
NUMBER(DAOS_PROP_CO_LABEL, 0x1001);
NUMBER(DAOS_PROP_CO_LAYOUT_TYPE, 0x1002);
NUMBER(DAOS_PROP_CO_REDUN_FAC, 0x1007);
NUMBER(DAOS_PROP_CO_ACL, 0x100a);
NUMBER(DAOS_PROP_CO_DEDUP_THRESHOLD, 0x1010);
NUMBER(DAOS_PROP_CO_STATUS, 0x1012);
NUMBER(DAOS_PROP_CO_EC_CELL_SZ, 0x1014);
NUMBER(DAOS_PROP_CO_MAX, 0x101b);

NUMBER(DAOS_PROP_CO_LAYOUT_POSIX, 1);
NUMBER(DAOS_PROP_CO_LAYOUT_PYTHON, 3);
NUMBER(DAOS_PROP_CO_LAYOUT_METEO, 8);
NUMBER(DAOS_PROP_CO_CSUM_CRC32, 2);
NUMBER(DAOS_PROP_CO_CSUM_ADLER32, 7);

NUMBER(DAOS_ACL_PERM_POOL_ALL, 0x1f);
NUMBER(DAOS_ACL_PERM_CONT_ALL, 0x1fb);

NUMBER(DER_NONEXIST, 1005);
NUMBER(DER_EXIST, 1004);
NUMBER(DER_MISMATCH, 1031);
NUMBER(DER_REC2BIG, 2013);
NUMBER(DER_TX_RESTART, 2025);
NUMBER(DER_CONT_DESTROYING, 2051);
NUMBER(DER_UNKNOWN, 501000);

SIZE(d_list_t, 16);
FIELD(d_list_t, next, 0);
FIELD(d_list_t, prev, 8);

SIZE(d_hash_table_ops_t, 64);
FIELD(d_hash_table_ops_t, hop_key_cmp, 0);
FIELD(d_hash_table_ops_t, hop_key_init, 8);
FIELD(d_hash_table_ops_t, hop_key_hash, 16);
FIELD(d_hash_table_ops_t, hop_rec_hash, 24);
FIELD(d_hash_table_ops_t, hop_rec_addref, 32);
FIELD(d_hash_table_ops_t, hop_rec_decref, 40);
FIELD(d_hash_table_ops_t, hop_rec_ndecref, 48);
FIELD(d_hash_table_ops_t, hop_rec_free, 56);

SIZE(struct d_hash_table, 96);
FIELD(struct d_hash_table, ht_bits, 56);
FIELD(struct d_hash_table, ht_feats, 60);
FIELD(struct d_hash_table, ht_priv, 64);
FIELD(struct d_hash_table, ht_ops, 72);
FIELD(struct d_hash_table, ht_buckets, 80);
FIELD(struct d_hash_table, ht_locks, 88);

NUMBER(DFS_MAX_FSIZE, -1);
NUMBER(DFS_BALANCED, 4);
NUMBER(DFS_SET_ATTR_SIZE, 8);
NUMBER(DFS_SET_ATTR_GID, 32);
NUMBER(DFS_CHECK_EVICT_ALL, 16);
NUMBER(DFS_FILTER_INCLUDE_DIRS, 8);

SIZE(dfs_predicate_t, 272);
FIELD(dfs_predicate_t, dp_newer, 256);
FIELD(dfs_predicate_t, dp_size, 264);

SIZE(struct duns_attr_t, 480);
FIELD(struct duns_attr_t, da_oclass_id, 4);
FIELD(struct duns_attr_t, da_chunk_size, 8);
FIELD(struct duns_attr_t, da_props, 16);
FIELD(struct duns_attr_t, da_flags, 24);
FIELD(struct duns_attr_t, da_pool, 28);
FIELD(struct duns_attr_t, da_cont, 156);
FIELD(struct duns_attr_t, da_sys, 288);
FIELD(struct duns_attr_t, da_rel_path, 296);
FIELD(struct duns_attr_t, da_on_lustre, 304);
FIELD(struct duns_attr_t, da_no_prefix, 305);
FIELD(struct duns_attr_t, da_puuid, 306);
FIELD(struct duns_attr_t, da_cuuid, 322);
FIELD(struct duns_attr_t, da_dir_oclass_id, 340);
FIELD(struct duns_attr_t, da_file_oclass_id, 344);
FIELD(struct duns_attr_t, da_hints, 348);

SIZE(struct d_log_xstate, 32);
FIELD(struct d_log_xstate, dlog_facs, 8);
FIELD(struct d_log_xstate, fac_cnt, 24);
SIZE(struct dlog_fac, 24);
FIELD(struct dlog_fac, fac_mask, 16);
FIELD(struct dlog_fac, is_enabled, 20);
NUMBER(DLOG_ERR, 0x04000000);

_Static_assert(DAOS_API_VERSION_MAJOR == 2 && DAOS_API_VERSION_MINOR >= 8, "the version of the interface");
NUMBER(DAOS_PROP_CO_LAYOUT_UNKOWN, 0);
