//! Numbers of pool and container properties, and of their values.

numbers! {
    DAOS_PROP_LABEL_MAX_LEN: usize = 127, "The most bytes that a label has, without the zero that ends it.";
    DAOS_PROP_MAX_LABEL_BUF_LEN: usize = DAOS_PROP_LABEL_MAX_LEN + 1,
        "The most bytes that a label has, with the zero that ends it.";
    DAOS_PROP_ENTRIES_MAX_NR: u32 = 128, "How many properties a list holds at most.";
    DAOS_PROP_ENTRY_NOT_SET: u16 = 1, "The property has no value.";

    DAOS_PROP_PO_MIN: u32 = 0, "Below the first property of a pool.";
    DAOS_PROP_PO_LABEL: u32 = 1, "The label of the pool.";
    DAOS_PROP_PO_ACL: u32 = 2, "The access control list.";
    DAOS_PROP_PO_SPACE_RB: u32 = 3, "The share of space kept for rebuilding, in percent.";
    DAOS_PROP_PO_SELF_HEAL: u32 = 4, "What the pool repairs by itself.";
    DAOS_PROP_PO_RECLAIM: u32 = 5, "When space is reclaimed.";
    DAOS_PROP_PO_OWNER: u32 = 6, "The user who owns the pool.";
    DAOS_PROP_PO_OWNER_GROUP: u32 = 7, "The group that owns the pool.";
    DAOS_PROP_PO_SVC_LIST: u32 = 8, "The server processes that run the pool service.";
    DAOS_PROP_PO_EC_CELL_SZ: u32 = 9, "The size of a cell of an erasure-coded object, in bytes.";
    DAOS_PROP_PO_DATA_THRESH: u32 = 10,
        "The size from which values go to block devices, in bytes; older versions have a policy here.";
    DAOS_PROP_PO_REDUN_FAC: u32 = 11, "The redundancy factor that containers inherit.";
    DAOS_PROP_PO_EC_PDA: u32 = 12, "How close together the shards of an erasure-coded object are.";
    DAOS_PROP_PO_RP_PDA: u32 = 13, "How close together the shards of a replicated object are.";
    DAOS_PROP_PO_GLOBAL_VERSION: u32 = 14, "The version of the pool's layout.";
    DAOS_PROP_PO_UPGRADE_STATUS: u32 = 15, "How far an upgrade of the layout is.";
    DAOS_PROP_PO_SCRUB_MODE: u32 = 16, "When checksums are verified in the background.";
    DAOS_PROP_PO_SCRUB_FREQ: u32 = 17, "How often checksums are verified, in seconds.";
    DAOS_PROP_PO_SCRUB_THRESH: u32 = 18, "How many checksum errors put a target out of use.";
    DAOS_PROP_PO_SVC_REDUN_FAC: u32 = 19, "The redundancy factor of the pool service.";
    DAOS_PROP_PO_OBJ_VERSION: u32 = 20, "The version of the layout of objects.";
    DAOS_PROP_PO_PERF_DOMAIN: u32 = 21, "The performance domain.";
    DAOS_PROP_PO_CHECKPOINT_MODE: u32 = 22, "When checkpoints are made.";
    DAOS_PROP_PO_CHECKPOINT_FREQ: u32 = 23, "How often checkpoints are made, in seconds.";
    DAOS_PROP_PO_CHECKPOINT_THRESH: u32 = 24, "How full the log is at a checkpoint, in percent.";
    DAOS_PROP_PO_REINT_MODE: u32 = 25, "How a target that comes back gets its data.";
    DAOS_PROP_PO_SVC_OPS_ENABLED: u32 = 26, "Whether the pool service remembers operations.";
    DAOS_PROP_PO_SVC_OPS_ENTRY_AGE: u32 = 27, "How long the pool service remembers an operation, in seconds.";
    DAOS_PROP_PO_MAX: u32 = 28, "Above the last property of a pool.";

    DAOS_PROP_CO_MIN: u32 = 0x1000, "Below the first property of a container.";
    DAOS_PROP_CO_LABEL: u32 = 0x1001, "The label of the container.";
    DAOS_PROP_CO_LAYOUT_TYPE: u32 = 0x1002,
        "What the container holds, one of the `DAOS_PROP_CO_LAYOUT_*` numbers.";
    DAOS_PROP_CO_LAYOUT_VER: u32 = 0x1003, "The version of what it holds.";
    DAOS_PROP_CO_CSUM: u32 = 0x1004, "The kind of checksum.";
    DAOS_PROP_CO_CSUM_CHUNK_SIZE: u32 = 0x1005, "The number of bytes one checksum covers.";
    DAOS_PROP_CO_CSUM_SERVER_VERIFY: u32 = 0x1006, "Whether servers verify checksums too.";
    DAOS_PROP_CO_REDUN_FAC: u32 = 0x1007, "How many failures the container survives.";
    DAOS_PROP_CO_REDUN_LVL: u32 = 0x1008, "What counts as one failure: a server process or a machine.";
    DAOS_PROP_CO_SNAPSHOT_MAX: u32 = 0x1009, "How many snapshots are kept; 0 means any number.";
    DAOS_PROP_CO_ACL: u32 = 0x100a, "The access control list.";
    DAOS_PROP_CO_COMPRESS: u32 = 0x100b, "The kind of compression.";
    DAOS_PROP_CO_ENCRYPT: u32 = 0x100c, "The kind of encryption.";
    DAOS_PROP_CO_OWNER: u32 = 0x100d, "The user who owns the container.";
    DAOS_PROP_CO_OWNER_GROUP: u32 = 0x100e, "The group that owns the container.";
    DAOS_PROP_CO_DEDUP: u32 = 0x100f, "The kind of deduplication.";
    DAOS_PROP_CO_DEDUP_THRESHOLD: u32 = 0x1010, "The size from which values are deduplicated, in bytes.";
    DAOS_PROP_CO_ROOTS: u32 = 0x1011, "The objects that the layout starts from.";
    DAOS_PROP_CO_STATUS: u32 = 0x1012, "Whether the container is healthy.";
    DAOS_PROP_CO_ALLOCED_OID: u32 = 0x1013, "The highest object identifier that was allocated.";
    DAOS_PROP_CO_EC_CELL_SZ: u32 = 0x1014, "The size of a cell of an erasure-coded object, in bytes.";
    DAOS_PROP_CO_EC_PDA: u32 = 0x1015, "How close together the shards of an erasure-coded object are.";
    DAOS_PROP_CO_RP_PDA: u32 = 0x1016, "How close together the shards of a replicated object are.";
    DAOS_PROP_CO_GLOBAL_VERSION: u32 = 0x1017, "The version of the container's layout.";
    DAOS_PROP_CO_SCRUBBER_DISABLED: u32 = 0x1018, "Whether checksums are not verified in the background.";
    DAOS_PROP_CO_OBJ_VERSION: u32 = 0x1019, "The version of the layout of objects.";
    DAOS_PROP_CO_PERF_DOMAIN: u32 = 0x101a, "The performance domain.";
    DAOS_PROP_CO_MAX: u32 = 0x101b, "Above the last property of a container.";

    DAOS_PROP_CO_LAYOUT_UNKNOWN: u64 = 0, "A container that holds anything.";
    DAOS_PROP_CO_LAYOUT_POSIX: u64 = 1, "A container that holds files.";
    DAOS_PROP_CO_LAYOUT_HDF5: u64 = 2, "A container that holds HDF5 files.";
    DAOS_PROP_CO_LAYOUT_PYTHON: u64 = 3, "A container that holds Python objects.";
    DAOS_PROP_CO_LAYOUT_SPARK: u64 = 4, "A container that holds Spark shuffles.";
    DAOS_PROP_CO_LAYOUT_DATABASE: u64 = 5, "A container that holds a database.";
    DAOS_PROP_CO_LAYOUT_ROOT: u64 = 6, "A container that holds ROOT data.";
    DAOS_PROP_CO_LAYOUT_SEISMIC: u64 = 7, "A container that holds seismic data.";
    DAOS_PROP_CO_LAYOUT_METEO: u64 = 8, "A container that holds fields.";

    DAOS_PROP_CO_CSUM_OFF: u64 = 0, "Checksum: none.";
    DAOS_PROP_CO_CSUM_CRC16: u64 = 1, "Checksum: CRC16.";
    DAOS_PROP_CO_CSUM_CRC32: u64 = 2, "Checksum: CRC32.";
    DAOS_PROP_CO_CSUM_CRC64: u64 = 3, "Checksum: CRC64.";
    DAOS_PROP_CO_CSUM_SHA1: u64 = 4, "Checksum: SHA-1.";
    DAOS_PROP_CO_CSUM_SHA256: u64 = 5, "Checksum: SHA-256.";
    DAOS_PROP_CO_CSUM_SHA512: u64 = 6, "Checksum: SHA-512.";
    DAOS_PROP_CO_CSUM_ADLER32: u64 = 7, "Checksum: Adler-32.";

    DAOS_PROP_CO_CSUM_SV_OFF: u64 = 0, "Servers verify checksums: no.";
    DAOS_PROP_CO_CSUM_SV_ON: u64 = 1, "Servers verify checksums: yes.";

    DAOS_PROP_CO_DEDUP_OFF: u64 = 0, "Deduplication: none.";
    DAOS_PROP_CO_DEDUP_MEMCMP: u64 = 1, "Deduplication: by comparing bytes.";
    DAOS_PROP_CO_DEDUP_HASH: u64 = 2, "Deduplication: by checksum.";

    DAOS_PROP_CO_COMPRESS_OFF: u64 = 0, "Compression: none.";
    DAOS_PROP_CO_COMPRESS_LZ4: u64 = 1, "Compression: LZ4.";
    DAOS_PROP_CO_COMPRESS_DEFLATE: u64 = 2, "Compression: Deflate, default level.";
    DAOS_PROP_CO_COMPRESS_DEFLATE1: u64 = 3, "Compression: Deflate, level 1.";
    DAOS_PROP_CO_COMPRESS_DEFLATE2: u64 = 4, "Compression: Deflate, level 2.";
    DAOS_PROP_CO_COMPRESS_DEFLATE3: u64 = 5, "Compression: Deflate, level 3.";
    DAOS_PROP_CO_COMPRESS_DEFLATE4: u64 = 6, "Compression: Deflate, level 4.";

    DAOS_PROP_CO_ENCRYPT_OFF: u64 = 0, "Encryption: none.";
    DAOS_PROP_CO_ENCRYPT_AES_XTS128: u64 = 1, "Encryption: AES-XTS, 128 bits.";
    DAOS_PROP_CO_ENCRYPT_AES_XTS256: u64 = 2, "Encryption: AES-XTS, 256 bits.";
    DAOS_PROP_CO_ENCRYPT_AES_CBC128: u64 = 3, "Encryption: AES-CBC, 128 bits.";
    DAOS_PROP_CO_ENCRYPT_AES_CBC192: u64 = 4, "Encryption: AES-CBC, 192 bits.";
    DAOS_PROP_CO_ENCRYPT_AES_CBC256: u64 = 5, "Encryption: AES-CBC, 256 bits.";
    DAOS_PROP_CO_ENCRYPT_AES_GCM128: u64 = 6, "Encryption: AES-GCM, 128 bits.";
    DAOS_PROP_CO_ENCRYPT_AES_GCM256: u64 = 7, "Encryption: AES-GCM, 256 bits.";

    DAOS_PROP_CO_REDUN_RF0: u64 = 0, "Failures survived: none.";
    DAOS_PROP_CO_REDUN_RF1: u64 = 1, "Failures survived: 1.";
    DAOS_PROP_CO_REDUN_RF2: u64 = 2, "Failures survived: 2.";
    DAOS_PROP_CO_REDUN_RF3: u64 = 3, "Failures survived: 3.";
    DAOS_PROP_CO_REDUN_RF4: u64 = 4, "Failures survived: 4.";

    DAOS_PROP_CO_REDUN_RANK: u64 = 1, "A failure is that of a server process.";
    DAOS_PROP_CO_REDUN_NODE: u64 = 2, "A failure is that of a machine.";
    DAOS_PROP_CO_HEALTHY: u16 = 0, "The container is healthy.";
    DAOS_PROP_CO_UNCLEAN: u16 = 1, "More failed than the container survives.";
    DAOS_PROP_CO_CLEAR: u16 = 1, "The status is to be set to healthy.";
}
