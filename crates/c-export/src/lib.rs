//! The attribute of the functions that our C libraries offer.

use proc_macro::TokenStream;
use quote::quote;
use syn::{
    FnArg, Ident, ItemFn, Pat, ReturnType, Token, Type, parse_macro_input, parse_quote,
    punctuated::Punctuated,
};

/// Offers a function to C under its name, and under further names, for interfaces that have two of some.
///
/// A function whose result is a `Result` returns its number: `crate::export::answer` runs the body, with the parameter `event`,
/// which is that of the call, if there is one, and no panic leaves it. Any other result is returned as it is.
///
/// ```text
/// #[export(daos_cont_destroy2)]
/// fn daos_cont_destroy(pool: Handle, container: Text, force: c_int, event: Event) -> Result<()> {
///     containers::destroy(pool.cookie, container.text()?, force != 0)
/// }
/// ```
#[proc_macro_attribute]
pub fn export(names: TokenStream, function: TokenStream) -> TokenStream {
    let names = parse_macro_input!(names with Punctuated::<Ident, Token![,]>::parse_terminated);
    let mut function = parse_macro_input!(function as ItemFn);
    let parameters: Vec<Ident> = function.sig.inputs.iter().filter_map(name_of).cloned().collect();
    if let Some(result) = result_of(&function.sig.output) {
        let event = parameters.iter().find(|name| *name == "event");
        let event = event.map_or_else(|| quote!(::std::ptr::null_mut()), |event| quote!(#event));
        let body = &function.block;
        function.block = parse_quote!({ crate::export::answer(#event, move || -> #result #body) });
        function.sig.output = parse_quote!(-> ::std::ffi::c_int);
    }
    function.sig.abi = Some(parse_quote!(extern "C"));
    function.attrs.push(parse_quote!(#[unsafe(no_mangle)]));
    let others = names.iter().map(|name| {
        let (first, mut other) = (&function.sig.ident, function.sig.clone());
        other.ident = name.clone();
        quote!(#[unsafe(no_mangle)] #other { #first(#(#parameters),*) })
    });
    quote!(#function #(#others)*).into()
}

fn name_of(parameter: &FnArg) -> Option<&Ident> {
    match parameter {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(name) => Some(&name.ident),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    }
}

/// The type of a result that is a `Result`.
fn result_of(output: &ReturnType) -> Option<&Type> {
    match output {
        ReturnType::Type(_, result) => match &**result {
            Type::Path(path) if path.path.segments.last()?.ident == "Result" => Some(result),
            _ => None,
        },
        ReturnType::Default => None,
    }
}
