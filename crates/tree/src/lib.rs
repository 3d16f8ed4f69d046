//! A tree of named values on one container: paths with slashes, each with bytes, as Zarr's stores have them.
//!
//! A directory is a key-value object whose id follows from its path. It has an entry for each value in it, and a marker for each
//! directory in it. So a value is found by one lookup, and a directory is listed without its neighbours. A small value is in its
//! entry. A larger one is an array of its own, which the engine reads at full speed and checks. `docs/zarr.md` has the layout.
//!
//! What must stay true:
//! - An array that an entry names never changes: a new value gets a new array. A reader whose array vanished looks the path up again.
//! - An entry changes only if it is what the writer saw, so two writers never destroy the same array.
//! - A value that is there is also listed. Its entry and the markers above it are one commit where the engine has transactions. Elsewhere
//!   the markers come first, and the writer looks at them again afterwards. `remove.rs` says why a removal takes none away.
//! - An array that an entry names is never swept. `sweep.rs` says why.
//!
//! ```
//! use isotach_object::{Engine, memory::Memory};
//! use isotach_tree::{Part, Tree};
//!
//! let engine = Memory::new();
//! engine.create_pool(&"memory:doc".parse()?)?;
//! let tree = Tree::create(&*engine.open_pool(&"memory:doc".parse()?)?, &"climate".parse()?)?;
//! tree.put("temperature/c/0/0", b"a chunk")?;
//! assert_eq!(tree.read("temperature/c/0/0", Part::Range(2, 7))?.as_deref(), Some(&b"chunk"[..]));
//! assert_eq!(tree.children("temperature")?, ["c"]);
//! # Ok::<(), isotach_object::Error>(())
//! ```

mod changes;
mod commit;
mod entry;
mod fence;
mod list;
mod part;
mod path;
mod read;
mod remove;
mod sweep;
mod tree;
mod write;

pub use list::Listed;
pub use part::Part;
pub use tree::Tree;
