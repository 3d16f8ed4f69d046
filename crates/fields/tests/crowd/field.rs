//! Fields that say themselves what they are, so that a mix of two is noticed.

use isotach_mars::{Key, Request};

/// The dataset and collocation that the whole crowd works on.
const COMMON: &str = "class=od,expver=0001,stream=enfo,date=20240101,time=0000,type=pf,levtype=pl";

/// One flush of one writer: some fields of a member at a step, in a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) writer: u64,
    pub(crate) step: u64,
    pub(crate) version: u64,
}

impl Step {
    /// Fields of one step.
    pub(crate) const FIELDS: u64 = 8;
    /// Steps of a writer; after the last it goes over the first again, replacing its fields.
    pub(crate) const STEPS: u64 = 20;

    /// The `count`th flush of a writer.
    pub(crate) fn nth(writer: u64, count: u64) -> Self {
        Self { writer, step: count % Self::STEPS, version: count / Self::STEPS }
    }

    pub(crate) fn key(&self, param: u64) -> Key {
        let Self { writer, step, .. } = self;
        format!("{COMMON},number={writer},step={step},levelist=500,param={}", 130 + param).parse().unwrap()
    }

    /// All fields of the step.
    pub(crate) fn request(&self) -> Request {
        let params: Vec<String> = (0..Self::FIELDS).map(|param| (130 + param).to_string()).collect();
        let Self { writer, step, .. } = self;
        format!("{COMMON},number={writer},step={step},levelist=500,param={}", params.join("/"))
            .parse()
            .unwrap()
    }

    /// The bytes of a field: a head that says what it is, and noise that follows from it. From 40 bytes, which
    /// are gathered, to more than a direct write.
    pub(crate) fn bytes(&self, param: u64) -> Vec<u8> {
        let Self { writer, step, version } = *self;
        let mut noise = writer << 48 ^ step << 32 ^ version << 8 ^ param ^ 0x9e37_79b9_7f4a_7c15;
        let length = 40 + (noise.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 46) as usize;
        let mut bytes: Vec<u8> =
            [writer, step, version, param, length as u64].iter().flat_map(|n| n.to_le_bytes()).collect();
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
