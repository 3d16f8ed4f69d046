//! Filter 2: the first bytes of all elements, then the second ones, and so on; what is left over of a last element stays behind.

pub(super) fn encode(values: &[u32], bytes: &[u8]) -> Vec<u8> {
    let Some(size) = size(values, bytes) else { return bytes.to_vec() };
    let count = bytes.len() / size;
    let mut shuffled = Vec::with_capacity(bytes.len());
    for at in 0..size {
        shuffled.extend(bytes.chunks_exact(size).filter_map(|element| element.get(at)));
    }
    shuffled.extend_from_slice(&bytes[count * size..]);
    shuffled
}

pub(super) fn decode(values: &[u32], bytes: Vec<u8>) -> Vec<u8> {
    let Some(size) = size(values, &bytes) else { return bytes };
    let count = bytes.len() / size;
    let mut elements = vec![0; bytes.len()];
    for (at, plane) in bytes.chunks_exact(count).take(size).enumerate() {
        for (element, byte) in elements.chunks_exact_mut(size).zip(plane) {
            element[at] = *byte;
        }
    }
    elements[count * size..].copy_from_slice(&bytes[count * size..]);
    elements
}

/// The size of an element, if there is something to shuffle.
fn size(values: &[u32], bytes: &[u8]) -> Option<usize> {
    let size = values.first().map_or(1, |size| *size as usize);
    (size > 1 && bytes.len() >= size).then_some(size)
}
