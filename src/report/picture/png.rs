//! PNG: signature, head, one compressed stream of rows, end.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// A picture of rows of RGB pixels.
pub fn encode(pixels: &[u8], [width, height]: [usize; 2]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut head = Vec::new();
    for n in [width, height] {
        head.extend((n as u32).to_be_bytes());
    }
    // Eight bits, RGB, deflate, filters by row, not interlaced.
    head.extend([8, 2, 0, 0, 0]);
    chunk(&mut file, b"IHDR", &head);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
    let mut above = vec![0; 3 * width];
    for row in pixels.chunks(3 * width) {
        // Filter 2: differences to the row above; most rows of such pictures repeat it.
        let mut line = vec![2];
        line.extend(row.iter().zip(&above).map(|(x, a)| x.wrapping_sub(*a)));
        encoder
            .write_all(&line)
            .expect("writing to memory does not fail");
        above.copy_from_slice(row);
    }
    let packed = encoder.finish().expect("writing to memory does not fail");
    chunk(&mut file, b"IDAT", &packed);
    chunk(&mut file, b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(data);
    file.extend((data.len() as u32).to_be_bytes());
    file.extend(kind);
    file.extend(data);
    file.extend(crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn rows_come_back() {
        let pixels: Vec<u8> = (0..3 * 5 * 4).map(|i| (i * 37 % 251) as u8).collect();
        let file = encode(&pixels, [5, 4]);
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(&file[12..16], b"IHDR");
        assert_eq!(&file[16..24], &[0, 0, 0, 5, 0, 0, 0, 4]);
        // The checksum of the empty last chunk is in every PNG file.
        assert_eq!(&file[file.len() - 4..], &[0xae, 0x42, 0x60, 0x82]);
        let length = u32::from_be_bytes(file[33..37].try_into().unwrap()) as usize;
        let mut rows = Vec::new();
        let mut decoder = flate2::read::ZlibDecoder::new(&file[41..41 + length]);
        decoder.read_to_end(&mut rows).unwrap();
        let mut found = Vec::new();
        let mut above = [0; 15];
        for line in rows.chunks(16) {
            assert_eq!(line[0], 2);
            for k in 0..15 {
                above[k] = line[k + 1].wrapping_add(above[k]);
            }
            found.extend(above);
        }
        assert_eq!(found, pixels);
    }
}
