//! The processes of a run on one or more nodes: started together, released from barriers together, and heard.
//!
//! The [`Launcher`] of the driver starts a node for each host; a node starts the processes of a run on its machine. They
//! exchange one JSON message per line through pipes, so no port is needed, and a broken pipe ends everything behind it.
//!
//! What must stay true: a barrier opens only when every live process has reached it. When a process fails, the others
//! finish their phase, the events of that phase are recorded, and the next barrier does not open.

mod child;
pub(crate) mod cpus;
mod driver;
mod message;
mod node;
mod process;
mod state;

pub use child::COMMAND;
pub(crate) use child::this_program;
pub(crate) use driver::Launcher;
pub(crate) use message::{Host, Rank, Task};
pub(crate) use node::run as run_node;
pub(crate) use process::{Process, run as run_process};
pub(crate) use state::{Phase, RunOutcome};
