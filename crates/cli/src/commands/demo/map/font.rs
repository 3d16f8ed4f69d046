//! A small bitmap font. It labels a map without fonts of the system.
//!
//! `font.txt` draws the glyphs: a line with sixteen characters, then nine rows of sixteen glyphs.

use std::{collections::HashMap, sync::OnceLock};

/// Columns of a glyph.
pub(crate) const WIDTH: usize = 5;
/// Rows of a glyph.
pub(crate) const HEIGHT: usize = 9;
/// Columns from one glyph to the next.
pub(crate) const ADVANCE: usize = WIDTH + 1;

/// The drawings of the glyphs.
const FONT: &str = include_str!("font.txt");

/// Each row's columns as bits, the leftmost the highest.
type Glyph = [u8; HEIGHT];

/// The positions of a glyph's pixels. A character without a glyph has none.
pub(crate) fn pixels(character: char) -> impl Iterator<Item = (usize, usize)> {
    static GLYPHS: OnceLock<HashMap<char, Glyph>> = OnceLock::new();
    let glyph = GLYPHS.get_or_init(|| parse(FONT)).get(&character).copied().unwrap_or_default();
    (0..HEIGHT).flat_map(move |row| {
        (0..WIDTH)
            .filter(move |column| glyph[row] >> (WIDTH - 1 - column) & 1 == 1)
            .map(move |column| (column, row))
    })
}

/// The width of a text in pixels, at scale 1.
pub(crate) fn width(text: &str) -> usize {
    (text.chars().count() * ADVANCE).saturating_sub(1)
}

fn parse(text: &str) -> HashMap<char, Glyph> {
    let mut glyphs = HashMap::new();
    let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    while let Some(characters) = lines.next() {
        let rows: Vec<&str> = lines.by_ref().take(HEIGHT).collect();
        for (at, character) in characters.split_whitespace().flat_map(str::chars).enumerate() {
            let mut glyph = Glyph::default();
            for (bits, row) in glyph.iter_mut().zip(&rows) {
                let columns = row.chars().skip(at * ADVANCE).take(WIDTH);
                *bits = columns.fold(0, |bits, pixel| bits << 1 | u8::from(pixel == '#'));
            }
            glyphs.insert(character, glyph);
        }
    }
    glyphs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_and_digit_has_a_distinct_glyph() {
        let glyphs = parse(FONT);
        let characters = ('a'..='z').chain('A'..='Z').chain('0'..='9').chain(".,:-+=/()*%°".chars());
        let mut seen = HashMap::new();
        for character in characters {
            let glyph = glyphs.get(&character).unwrap_or_else(|| panic!("no glyph for {character}"));
            assert!(glyph.iter().any(|row| *row != 0), "{character} is blank");
            assert_eq!(seen.insert(glyph, character), None, "{character} looks like another");
        }
    }

    #[test]
    fn a_glyph_has_the_pixels_of_its_drawing() {
        let dots: Vec<(usize, usize)> = pixels('-').collect();
        assert_eq!(dots, [(1, 3), (2, 3), (3, 3)]);
        assert_eq!(pixels('\u{2603}').count(), 0);
        assert_eq!(width("ab"), 11);
    }
}
