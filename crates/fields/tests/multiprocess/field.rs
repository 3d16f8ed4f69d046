//! Fields that say themselves what they are, so that a mix of two is noticed.

use isotach_mars::{Key, Request};

/// The collocation that all processes work on, in each dataset.
const COMMON: &str = "class=od,stream=enfo,date=20240101,time=0000,type=pf,levtype=pl";

/// One flush of one writer: some fields of a member at a step, in a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) writer: u64,
    pub(crate) dataset: u64,
    pub(crate) step: u64,
    pub(crate) version: u64,
}

impl Step {
    /// Fields of one step.
    pub(crate) const FIELDS: u64 = 8;
    /// Steps of a writer; after the last it goes over the first again, replacing its fields.
    pub(crate) const STEPS: u64 = 20;

    /// Writers from this number on have fields eight times as long.
    pub(crate) const LARGE: u64 = 50;

    /// The `count`th flush of a writer that goes on to another dataset after `span` flushes.
    pub(crate) fn nth(writer: u64, count: u64, span: u64) -> Self {
        let (dataset, within) = (count / span, count % span);
        Self { writer, dataset, step: within % Self::STEPS, version: within / Self::STEPS }
    }

    /// The keys of all fields of the step but the parameter.
    fn text(&self) -> String {
        let Self { writer, dataset, step, .. } = self;
        format!("{COMMON},expver={:04},number={writer},step={step},levelist=500", dataset + 1)
    }

    pub(crate) fn key(&self, param: u64) -> Key {
        format!("{},param={}", self.text(), 130 + param).parse().unwrap()
    }

    /// All fields of the step.
    pub(crate) fn request(&self) -> Request {
        let params: Vec<String> = (0..Self::FIELDS).map(|param| (130 + param).to_string()).collect();
        format!("{},param={}", self.text(), params.join("/")).parse().unwrap()
    }

    /// The bytes of a field: a head that says what it is, and noise that follows from it. Most have 48 to 8 000,
    /// which are gathered; one of sixteen has up to 262 000, which may be written directly.
    pub(crate) fn bytes(&self, param: u64) -> Vec<u8> {
        let Self { writer, dataset, step, version } = *self;
        let mut noise =
            dataset << 56 ^ writer << 48 ^ step << 32 ^ version << 8 ^ param ^ 0x9e37_79b9_7f4a_7c15;
        let hash = noise.wrapping_mul(0xff51_afd7_ed55_8ccd);
        let times = if writer < Self::LARGE { 1 } else { 8 };
        let length = 48 + times * (hash >> if hash & 15 == 0 { 46 } else { 51 }) as usize;
        let head = [writer, step, version, param, length as u64, dataset];
        let mut bytes: Vec<u8> = head.iter().flat_map(|n| n.to_le_bytes()).collect();
        while bytes.len() < length {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bytes.extend_from_slice(&noise.to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }

    /// The version of a field of this writer and step, if its bytes are whole and right.
    pub(crate) fn version_of(&self, param: u64, bytes: &[u8]) -> Option<u64> {
        let version = u64::from_le_bytes(bytes.get(16..24)?.try_into().ok()?);
        (Self { version, ..*self }.bytes(param) == bytes).then_some(version)
    }
}
