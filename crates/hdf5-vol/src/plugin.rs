//! The entry point by which HDF5 finds the connector.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use crate::{
    abi::{ConnectorClass, PLUGIN_VOL},
    connector,
    library::Library,
    tables,
};

/// `H5PLget_plugin_type`: the plugin is a VOL connector.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn H5PLget_plugin_type() -> c_int {
    PLUGIN_VOL
}

/// `H5PLget_plugin_info`: the class of the connector for the library that calls. Passes its return address on, which lies in that library.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn H5PLget_plugin_info() -> *const c_void {
    std::arch::naked_asm!("mov rdi, [rsp]", "jmp {inner}", inner = sym class_for_caller)
}

/// `H5PLget_plugin_info`: the class of the connector for the library that calls. Passes its return address on, which lies in that library.
#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn H5PLget_plugin_info() -> *const c_void {
    std::arch::naked_asm!("mov x0, x30", "b {inner}", inner = sym class_for_caller)
}

/// The class for the library that holds an address; null, with a line on standard error, if there is none.
extern "C" fn class_for_caller(address: *const c_void) -> *const c_void {
    match class_for_address(address) {
        Ok(class) => ptr::from_ref(class).cast(),
        Err(error) => {
            eprintln!("isotach_vol: {error}");
            ptr::null()
        }
    }
}

fn class_for_address(address: *const c_void) -> Result<&'static ConnectorClass, String> {
    let slot = tables::enter(Library::of_address(address)?)?;
    let class = connector::class(slot).ok_or_else(|| "no class for the library".to_owned())?;
    tables::set_class(slot, class);
    Ok(class)
}
