//! The memory engine: the simplest code that obeys the contract, and the model others are compared with.
