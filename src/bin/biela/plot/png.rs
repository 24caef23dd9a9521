//! `--plot x.png`: the first frame of the SVG as pixels, two for each of its units.

use resvg::{tiny_skia, usvg};

/// Pixels for each unit of the SVG: sharp on today's screens.
const SCALE: f32 = 2.0;

/// The picture as a PNG file; the error says why there is none.
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    let mut options = usvg::Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    if fonts.is_empty() {
        return Err("the system has no fonts for its texts: write an .svg".to_owned());
    }
    // The families of the style sheet are those of browsers; any of the system's fonts will do.
    if let Some(family) = sans_serif(fonts) {
        fonts.set_sans_serif_family(family);
    }
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size();
    let [width, height] = [size.width(), size.height()].map(|s| (s * SCALE).ceil() as u32);
    let mut pixels = tiny_skia::Pixmap::new(width, height).ok_or("it is too large")?;
    let scale = tiny_skia::Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, scale, &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| error.to_string())
}

/// A family without serifs that the system has, or any other.
fn sans_serif(fonts: &usvg::fontdb::Database) -> Option<String> {
    const WANTED: [&str; 5] = [
        "Helvetica",
        "Arial",
        "Liberation Sans",
        "DejaVu Sans",
        "Noto Sans",
    ];
    let known = |family: &&str| {
        fonts
            .faces()
            .any(|face| face.families.iter().any(|(name, _)| name == family))
    };
    let any = || {
        fonts
            .faces()
            .next()?
            .families
            .first()
            .map(|(name, _)| name.clone())
    };
    (WANTED.into_iter().find(known).map(str::to_owned)).or_else(any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_two_pixels_for_each_unit_or_says_that_fonts_are_missing() {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"20\"><rect width=\"9\" height=\"9\"/></svg>";
        match png(svg) {
            Ok(bytes) => {
                assert_eq!(&bytes[1..4], b"PNG");
                assert_eq!(bytes[16..24], [0, 0, 0, 60, 0, 0, 0, 40]);
            }
            Err(reason) => assert!(reason.contains("no fonts"), "{reason}"),
        }
        assert!(png("<svg").is_err());
    }
}
