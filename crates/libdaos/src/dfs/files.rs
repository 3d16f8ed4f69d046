//! The bytes of files: read, written, cut off.

use super::{
    error::Result,
    mount::FileSystem,
    nodes::{Kind, Node},
    store::class_by_default,
};
use crate::objects::arrays::Range;

/// The rest of a file, in `dfs_punch`.
const ALL: u64 = u64::MAX;

/// What `dfs_obj_get_info` tells.
pub(crate) struct Information {
    pub(crate) class: u32,
    pub(crate) chunk_size: u64,
    pub(crate) directory_class: u32,
    pub(crate) file_class: u32,
}

impl FileSystem {
    /// See `dfs_read` and `dfs_readx`; how many bytes were there.
    pub(crate) fn read(&self, node: &Node, ranges: &[Range], buffers: Vec<&mut [u8]>) -> Result<u64> {
        node.check_readable()?;
        node.file()?.bytes.read(ranges, buffers)
    }

    /// See `dfs_write` and `dfs_writex`.
    pub(crate) fn write(&self, node: &Node, ranges: &[Range], buffers: &[&[u8]]) -> Result<()> {
        self.check_writable()?;
        let file = node.file()?;
        node.check_writable()?;
        file.bytes.write(ranges, buffers)?;
        file.note_change();
        Ok(())
    }

    /// See `dfs_punch`: a hole, or the end of the file.
    pub(crate) fn punch(&self, node: &Node, offset: u64, length: u64) -> Result<()> {
        self.check_writable()?;
        let file = node.file()?;
        node.check_writable()?;
        if length == ALL {
            return file.set_size(offset);
        }
        if file.bytes.punch((offset, length))? {
            file.note_change();
        }
        Ok(())
    }

    /// See `dfs_obj_get_info`.
    pub(crate) fn information(&self, node: &Node) -> Result<Information> {
        let class = node.id.class().id();
        let none = Information { class, chunk_size: 0, directory_class: 0, file_class: 0 };
        Ok(match &node.kind {
            Kind::Link(_) => Information { class: 0, ..none },
            Kind::File(file) => Information { chunk_size: file.chunk_size, ..none },
            Kind::Directory(_) => {
                let own = node.defaults();
                let chosen = |given: u32, is_file| -> Result<u32> {
                    match (own.class, given) {
                        (0, 0) => class_by_default(is_file),
                        (0, given) => Ok(given),
                        (own, _) => Ok(own),
                    }
                };
                Information {
                    class,
                    chunk_size: if own.chunk_size == 0 { self.attributes.chunk_size } else { own.chunk_size },
                    directory_class: chosen(self.attributes.directory_class, false)?,
                    file_class: chosen(self.attributes.file_class, true)?,
                }
            }
        })
    }
}
