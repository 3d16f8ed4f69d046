//! Compares the layout of this module's structs with HDF5's headers: a program in C prints what its compiler makes of them.

use std::{
    fs,
    mem::offset_of,
    path::{Path, PathBuf},
    process::Command,
};

use isotach_needs::{Need, skip};

use super::{
    AttributeGetArgs, AttributeGetInfo, AttributeGetName, AttributeInfo, AttributeIterate,
    AttributeSpecificArgs, ChunkInfoByIndex, ChunkRead, ChunkWrite, ConnectorClass, ContainerInfo,
    DatasetGetArgs, DatasetOptionalArgs, DatasetSpecificArgs, DatatypeGetArgs, FileGetArgs, FileSpecificArgs,
    GroupGetArgs, GroupInfo, GroupObjectInfo, GroupSpecificArgs, GroupStat, LinkCreateArgs, LinkGetArgs,
    LinkInfo, LinkIterate, LinkSpecificArgs, LocByIdx, LocParams, MapArgs, MapCreate, MapDelete, MapExists,
    MapGet, MapGetValue, MapIterate, MapOpen, MapPut, MapSpecific, NATIVE_INFO_SIZE, ObjectGetArgs,
    ObjectIds, ObjectInfo, ObjectSpecificArgs, ObjectVisit, OptionalArgs, RequestSpecificArgs, Token,
};

/// What C says, as an expression, and what it must be.
type Line = (String, usize);

macro_rules! sizes {
    ($($ours:ty => $theirs:literal),* $(,)?) => { vec![$((format!("sizeof({})", $theirs), size_of::<$ours>())),*] };
}

macro_rules! places {
    ($ours:ty => $theirs:literal { $($member:ident => $name:literal),* $(,)? }) => {
        vec![$((format!("offsetof({}, {})", $theirs, $name), offset_of!($ours, $member))),*]
    };
}

fn sizes() -> Vec<Line> {
    sizes! {
        Token => "H5O_token_t", ObjectInfo => "H5O_info2_t", LinkInfo => "H5L_info2_t", AttributeInfo => "H5A_info_t",
        GroupInfo => "H5G_info_t", ContainerInfo => "H5VL_file_cont_info_t", LocParams => "H5VL_loc_params_t",
        LocByIdx => "H5VL_loc_by_idx_t", OptionalArgs => "H5VL_optional_args_t", AttributeGetArgs => "H5VL_attr_get_args_t",
        AttributeGetInfo => "H5VL_attr_get_info_args_t", AttributeGetName => "H5VL_attr_get_name_args_t",
        AttributeSpecificArgs => "H5VL_attr_specific_args_t", AttributeIterate => "H5VL_attr_iterate_args_t",
        DatasetGetArgs => "H5VL_dataset_get_args_t", DatasetSpecificArgs => "H5VL_dataset_specific_args_t",
        DatatypeGetArgs => "H5VL_datatype_get_args_t", FileGetArgs => "H5VL_file_get_args_t", ObjectIds => "H5VL_file_get_obj_ids_args_t",
        FileSpecificArgs => "H5VL_file_specific_args_t", GroupGetArgs => "H5VL_group_get_args_t",
        GroupSpecificArgs => "H5VL_group_specific_args_t", LinkCreateArgs => "H5VL_link_create_args_t",
        LinkGetArgs => "H5VL_link_get_args_t", LinkSpecificArgs => "H5VL_link_specific_args_t", LinkIterate => "H5VL_link_iterate_args_t",
        ObjectGetArgs => "H5VL_object_get_args_t", ObjectSpecificArgs => "H5VL_object_specific_args_t",
        ObjectVisit => "H5VL_object_visit_args_t", RequestSpecificArgs => "H5VL_request_specific_args_t",
        DatasetOptionalArgs => "H5VL_native_dataset_optional_args_t", ChunkRead => "H5VL_native_dataset_chunk_read_t",
        ChunkWrite => "H5VL_native_dataset_chunk_write_t", ChunkInfoByIndex => "H5VL_native_dataset_get_chunk_info_by_idx_t",
        GroupObjectInfo => "H5VL_native_group_get_objinfo_t", GroupStat => "H5G_stat_t", ConnectorClass => "H5VL_class_t",
        [u8; NATIVE_INFO_SIZE] => "H5O_native_info_t", MapArgs => "H5VL_map_args_t",
        MapIterate => "((H5VL_map_args_t *)0)->specific.args.iterate", MapDelete => "((H5VL_map_args_t *)0)->specific.args.del",
    }
}

fn places() -> Vec<Line> {
    [
        places! { ConnectorClass => "H5VL_class_t" {
            value => "value", name => "name", capabilities => "cap_flags", initialize => "initialize", info => "info_cls",
            wrap => "wrap_cls", attribute => "attr_cls", dataset => "dataset_cls", datatype => "datatype_cls", file => "file_cls",
            group => "group_cls", link => "link_cls", object => "object_cls", introspect => "introspect_cls", request => "request_cls",
            blob => "blob_cls", token => "token_cls", optional => "optional",
        }},
        places! { ObjectInfo => "H5O_info2_t" {
            token => "token", kind => "type", references => "rc", modified => "mtime", attributes => "num_attrs",
        }},
        places! { LinkInfo => "H5L_info2_t" {
            order_valid => "corder_valid", order => "corder", charset => "cset", target => "u",
        }},
        places! { AttributeInfo => "H5A_info_t" { order => "corder", charset => "cset", data_size => "data_size" }},
        places! { GroupInfo => "H5G_info_t" { links => "nlinks", order_max => "max_corder", mounted => "mounted" }},
        places! { LocParams => "H5VL_loc_params_t" { by => "type", data => "loc_data" }},
        places! { LocByIdx => "H5VL_loc_by_idx_t" { index => "idx_type", order => "order", n => "n", lapl => "lapl_id" }},
        places! { AttributeGetArgs => "H5VL_attr_get_args_t" { args => "args" }},
        places! { AttributeIterate => "H5VL_attr_iterate_args_t" { at => "idx", op => "op", data => "op_data" }},
        places! { LinkIterate => "H5VL_link_iterate_args_t" { index => "idx_type", at => "idx_p", op => "op", data => "op_data" }},
        places! { ObjectVisit => "H5VL_object_visit_args_t" { fields => "fields", op => "op", data => "op_data" }},
        places! { ObjectIds => "H5VL_file_get_obj_ids_args_t" { max => "max_objs", ids => "oid_list", count => "count" }},
        places! { ChunkRead => "H5VL_native_dataset_chunk_read_t" { filters => "filters", buf => "buf" }},
        places! { ChunkWrite => "H5VL_native_dataset_chunk_write_t" { size => "size", buf => "buf" }},
        // All members of the union begin at 0.
        places! { MapCreate => "H5VL_map_args_t" { name => "create.name", value_type => "create.val_type_id", map => "create.map" }},
        places! { MapOpen => "H5VL_map_args_t" { name => "open.name", map => "open.map" }},
        places! { MapGetValue => "H5VL_map_args_t" { value_type => "get_val.value_mem_type_id", value => "get_val.value" }},
        places! { MapExists => "H5VL_map_args_t" { key => "exists.key", exists => "exists.exists" }},
        places! { MapPut => "H5VL_map_args_t" { key => "put.key", value => "put.value" }},
        places! { MapGet => "H5VL_map_args_t" { op => "get.get_type", answer => "get.args" }},
        places! { MapSpecific => "H5VL_map_args_t" { op => "specific.specific_type", args => "specific.args" }},
        places! { GroupStat => "H5G_stat_t" { objno => "objno", kind => "type", link_length => "linklen" }},
    ]
    .concat()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of HDF5's headers; none where they cannot be had.
fn headers() -> Option<PathBuf> {
    let told = Command::new(root().join("scripts/hdf5-headers")).output().ok()?;
    told.status.success().then(|| PathBuf::from(String::from_utf8_lossy(&told.stdout).trim()))
}

#[test]
fn structs_have_the_layout_that_the_headers_of_hdf5_say() {
    if Command::new("cc").arg("--version").output().is_err() {
        return skip(Need::Compiler, "there is no C compiler");
    }
    let Some(headers) = headers() else {
        return skip(Need::Compiler, "there are no headers of HDF5: scripts/hdf5-headers fails");
    };
    let lines = [sizes(), places()].concat();
    let prints: String =
        lines.iter().map(|(term, _)| format!("    printf(\"%zu\\n\", (size_t){term});\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("layout.c"), folder.path().join("layout"));
    let text = format!(
        "#include <hdf5.h>\n#include <H5VLconnector.h>\n#include <H5VLnative.h>\n#include <stddef.h>\n#include <stdio.h>\n\nint main(void)\n{{\n{prints}    return 0;\n}}\n"
    );
    fs::write(&source, text).unwrap();
    let built =
        Command::new("cc").arg("-I").arg(headers).arg(&source).arg("-o").arg(&program).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let told = Command::new(&program).output().unwrap();
    let told: Vec<usize> =
        String::from_utf8_lossy(&told.stdout).lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(told.len(), lines.len());
    let wrong: Vec<_> = lines.iter().zip(&told).filter(|((_, ours), theirs)| ours != *theirs).collect();
    assert!(wrong.is_empty(), "HDF5 says otherwise: {wrong:?}");
}
