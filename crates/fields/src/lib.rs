//! Fields: catalogue, store and the FieldStore handle, on the object model.
