//! The object model: pools, containers, objects, transactions, and the trait every engine implements.
