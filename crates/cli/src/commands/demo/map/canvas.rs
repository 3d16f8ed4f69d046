//! A picture of RGB pixels to draw on, and to write as PNG.

use super::font;
use crate::failure::{Failure, Outcome};

/// Red, green, blue.
pub(crate) type Colour = [u8; 3];

/// A picture.
#[derive(Debug)]
pub(crate) struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    /// A picture filled with one colour.
    pub(crate) fn new(width: usize, height: usize, colour: Colour) -> Self {
        Self { width, height, pixels: colour.repeat(width * height) }
    }

    /// Sets a pixel. Pixels outside the picture are ignored.
    pub(crate) fn set(&mut self, x: usize, y: usize, colour: Colour) {
        self.blend(x, y, colour, 1.0);
    }

    /// Mixes a colour into a pixel, `share` of it from 0 to 1.
    pub(crate) fn blend(&mut self, x: usize, y: usize, colour: Colour, share: f64) {
        if x >= self.width || y >= self.height {
            return;
        }
        let start = (y * self.width + x) * 3;
        for (pixel, wanted) in self.pixels[start..start + 3].iter_mut().zip(colour) {
            *pixel = (f64::from(*pixel) * (1.0 - share) + f64::from(wanted) * share).round() as u8;
        }
    }

    /// Draws the frame of a rectangle.
    pub(crate) fn frame(&mut self, x: usize, y: usize, width: usize, height: usize, colour: Colour) {
        for at in x..x + width {
            self.set(at, y, colour);
            self.set(at, y + height - 1, colour);
        }
        for at in y..y + height {
            self.set(x, at, colour);
            self.set(x + width - 1, at, colour);
        }
    }

    /// Writes text with its upper left corner at `x` and `y`.
    pub(crate) fn text(&mut self, x: usize, y: usize, scale: usize, text: &str, colour: Colour) {
        for (at, character) in text.chars().enumerate() {
            for (column, row) in font::pixels(character) {
                let left = x + (at * font::ADVANCE + column) * scale;
                let top = y + row * scale;
                for dot in 0..scale * scale {
                    self.set(left + dot % scale, top + dot / scale, colour);
                }
            }
        }
    }

    /// Writes text that ends at `right`.
    pub(crate) fn text_to(&mut self, right: usize, y: usize, scale: usize, text: &str, colour: Colour) {
        self.text(right.saturating_sub(font::width(text) * scale), y, scale, text, colour);
    }

    /// Writes text with its middle at `middle`.
    pub(crate) fn text_around(&mut self, middle: usize, y: usize, scale: usize, text: &str, colour: Colour) {
        self.text(middle.saturating_sub(font::width(text) * scale / 2), y, scale, text, colour);
    }

    /// The picture as a PNG file.
    pub(crate) fn png(&self) -> Outcome<Vec<u8>> {
        let mut bytes = Vec::new();
        let size = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let mut encoder = png::Encoder::new(&mut bytes, size(self.width), size(self.height));
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let encode = || {
            let mut writer = encoder.write_header()?;
            writer.write_image_data(&self.pixels)?;
            writer.finish()
        };
        encode().map_err(|error| Failure::failed(format!("cannot encode the map: {error}")))?;
        Ok(bytes)
    }
}
