//! What the fastest way to do a thing depends on, of the processor that runs the program.

/// Whether it is one of AMD's: SSE4a is an extension of theirs alone.
#[cfg(target_arch = "x86_64")]
pub fn is_amd() -> bool {
    std::is_x86_feature_detected!("sse4a")
}

/// Whether it has AVX-512 for vectors of every length.
#[cfg(target_arch = "x86_64")]
pub fn has_avx512() -> bool {
    std::is_x86_feature_detected!("avx512vl")
}

/// Whether it is one of AMD's: of another architecture none is.
#[cfg(not(target_arch = "x86_64"))]
pub fn is_amd() -> bool {
    false
}

/// Whether it has AVX-512: of another architecture none has.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_avx512() -> bool {
    false
}
