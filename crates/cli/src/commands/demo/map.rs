//! A field as a map: latitude and longitude at right angles, colours and lines of equal value, a scale below.

mod canvas;
mod colours;
mod font;

use isotach_grib::Grid;

use self::{
    canvas::{Canvas, Colour},
    colours::{colour, interval, number, ticks},
};
use crate::failure::{Failure, Outcome};

/// The map's width in pixels; its height is half.
const WIDTH: usize = 1440;
const HEIGHT: usize = WIDTH / 2;
/// The margins of the map.
const LEFT: usize = 72;
const TOP: usize = 64;
const BELOW: usize = 104;

const PAPER: Colour = [250, 249, 246];
const INK: Colour = [44, 46, 52];
const FAINT: Colour = [120, 122, 128];
const MISSING: Colour = [205, 205, 205];

/// Degrees between the lines of the graticule.
const GRATICULE: usize = 30;
/// The height of the scale of colours.
const SCALE: usize = 18;

/// Draws a field; the map is a PNG file.
pub(crate) fn draw(grid: &Grid) -> Outcome<Vec<u8>> {
    let range = grid.range().ok_or_else(|| Failure::failed("the field to draw has no values"))?;
    let mut canvas = Canvas::new(WIDTH + 2 * LEFT, HEIGHT + TOP + BELOW, PAPER);
    title(&mut canvas, grid);
    field(&mut canvas, grid, range);
    graticule(&mut canvas);
    scale(&mut canvas, grid, range);
    canvas.png()
}

fn title(canvas: &mut Canvas, grid: &Grid) {
    let label = &grid.label;
    canvas.text(LEFT, 20, 3, &format!("{} at {} hPa", label.name, label.level), INK);
    canvas.text_to(LEFT + WIDTH, 28, 2, &format!("valid {} UTC", when(&label.valid)), FAINT);
}

/// `20240102 1800` as `2024-01-02 18:00`.
fn when(valid: &str) -> String {
    match (valid.get(..4), valid.get(4..6), valid.get(6..8), valid.get(9..11), valid.get(11..13)) {
        (Some(year), Some(month), Some(day), Some(hour), Some(minute)) => {
            format!("{year}-{month}-{day} {hour}:{minute}")
        }
        _ => valid.to_owned(),
    }
}

/// Draws the values as colours, with a line between neighbours on different sides of a round value.
fn field(canvas: &mut Canvas, grid: &Grid, (least, greatest): (f64, f64)) {
    let span = if greatest > least { greatest - least } else { 1.0 };
    let step = interval(span, 12.0);
    let values: Vec<f64> = (0..WIDTH * HEIGHT).map(|at| value(grid, at % WIDTH, at / WIDTH)).collect();
    let band = |x: usize, y: usize| (values[y * WIDTH + x] / step).floor();
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let value = values[y * WIDTH + x];
            let plain = if value.is_nan() { MISSING } else { colour((value - least) / span) };
            canvas.set(LEFT + x, TOP + y, plain);
            let (right, down) = ((x + 1) % WIDTH, (y + 1).min(HEIGHT - 1));
            let here = band(x, y);
            if !here.is_nan() && (here != band(right, y) || here != band(x, down)) {
                canvas.blend(LEFT + x, TOP + y, INK, 0.35);
            }
        }
    }
}

/// The value in the middle of a pixel, interpolated from the four grid points around it. Greenwich is in the middle of the map.
fn value(grid: &Grid, x: usize, y: usize) -> f64 {
    let longitude = (x as f64 + 0.5) * 360.0 / WIDTH as f64 - 180.0;
    let latitude = 90.0 - (y as f64 + 0.5) * 180.0 / HEIGHT as f64;
    let column = (longitude - grid.longitude(0)).rem_euclid(360.0) / grid.longitude_increment.max(1e-9);
    let row = (grid.latitude(0) - latitude) / grid.latitude_increment.max(1e-9);
    // On a global grid the first column follows the last one.
    let (west, north) = (column.floor(), row.floor().max(0.0));
    let (to_east, to_south) = (column - west, (row - north).clamp(0.0, 1.0));
    let is_global = (grid.ni as f64 + 0.5) * grid.longitude_increment >= 360.0;
    let wrapped = |column: f64| if is_global { column as usize % grid.ni } else { column as usize };
    let (west, east) = (wrapped(west), wrapped(west + 1.0));
    let (north, south) = (north as usize, (north as usize + 1).min(grid.nj.saturating_sub(1)));
    let along = |row| grid.at(west, row) * (1.0 - to_east) + grid.at(east, row) * to_east;
    along(north) * (1.0 - to_south) + along(south) * to_south
}

fn graticule(canvas: &mut Canvas) {
    for degree in (GRATICULE..360).step_by(GRATICULE) {
        let x = LEFT + degree * WIDTH / 360;
        (0..HEIGHT).filter(|y| y % 4 < 2).for_each(|y| canvas.blend(x, TOP + y, PAPER, 0.45));
        canvas.text_around(x, TOP + HEIGHT + 8, 2, &meridian(degree), FAINT);
    }
    for degree in (GRATICULE..180).step_by(GRATICULE) {
        let y = TOP + degree * HEIGHT / 180;
        (0..WIDTH).filter(|x| x % 4 < 2).for_each(|x| canvas.blend(LEFT + x, y, PAPER, 0.45));
        canvas.text_to(LEFT - 10, y - 7, 2, &parallel(degree), FAINT);
    }
    canvas.frame(LEFT - 1, TOP - 1, WIDTH + 2, HEIGHT + 2, INK);
}

/// The name of the meridian this far from the left edge.
fn meridian(degree: usize) -> String {
    match degree {
        180 => "0°".to_owned(),
        west if west < 180 => format!("{}°W", 180 - west),
        east => format!("{}°E", east - 180),
    }
}

/// The name of the parallel this far from the upper edge.
fn parallel(degree: usize) -> String {
    match degree {
        90 => "0°".to_owned(),
        north if north < 90 => format!("{}°N", 90 - north),
        south => format!("{}°S", south - 90),
    }
}

fn scale(canvas: &mut Canvas, grid: &Grid, (least, greatest): (f64, f64)) {
    let (left, width, top) = (LEFT + WIDTH / 4, WIDTH / 2, TOP + HEIGHT + 44);
    for x in 0..width {
        let here = colour(x as f64 / (width - 1) as f64);
        (0..SCALE).for_each(|y| canvas.set(left + x, top + y, here));
    }
    canvas.frame(left - 1, top - 1, width + 2, SCALE + 2, INK);
    let step = interval(greatest - least, 6.0);
    if greatest > least {
        for tick in ticks(least, greatest, step) {
            let x = left + ((tick - least) / (greatest - least) * (width - 1) as f64) as usize;
            (0..5).for_each(|y| canvas.set(x, top + SCALE + 1 + y, INK));
            canvas.text_around(x, top + SCALE + 10, 2, &number(tick, step), INK);
        }
    }
    let fine = step / 100.0;
    canvas.text_to(left - 16, top + 2, 2, &format!("min {}", number(least, fine)), INK);
    let units = units(&grid.label.units);
    canvas.text(left + width + 16, top + 2, 2, &format!("max {} {units}", number(greatest, fine)), INK);
}

/// Units in their common form: `m s**-1` as `m/s`.
fn units(units: &str) -> String {
    match units {
        "m s**-1" => "m/s".to_owned(),
        "m**2 s**-2" => "m2/s2".to_owned(),
        "kg kg**-1" => "kg/kg".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meridians_times_and_units_have_their_common_form() {
        assert_eq!(
            (meridian(30), meridian(180), meridian(330)),
            ("150°W".into(), "0°".into(), "150°E".into())
        );
        assert_eq!((parallel(30), parallel(90), parallel(150)), ("60°N".into(), "0°".into(), "60°S".into()));
        assert_eq!(when("20240102 1800"), "2024-01-02 18:00");
        assert_eq!(units("m s**-1"), "m/s");
    }
}
