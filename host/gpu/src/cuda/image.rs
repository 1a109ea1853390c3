//! Checks an image before the driver gets it. The driver gets only an address and finds the image's end by the image's
//! own headers, so these must be correct.

use crate::device::DeviceProblem;

const ELF: &[u8] = b"\x7fELF";
const ELF_HEADER_BYTES: usize = 64;
const CLASS_64: u8 = 2;
const MACHINE_CUDA: u64 = 190;
const SECTION_WITHOUT_BYTES: u64 = 8;

/// An image that ends where it says, and a zero after it.
pub struct CheckedImage(Vec<u8>);

impl CheckedImage {
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// PTX or a cubin.
pub fn checked(image: &[u8]) -> Result<CheckedImage, DeviceProblem> {
    let reject = |reason: &str| Err(DeviceProblem::ImageRejected(reason.to_owned()));
    let is_cubin = image.starts_with(ELF);
    // The run-time compiler ends its text as C does.
    let image = if is_cubin { image } else { image.strip_suffix(&[0]).unwrap_or(image) };
    if is_cubin {
        if cubin_fits(image) != Some(true) {
            return reject("the cubin is damaged");
        }
    } else if image.contains(&0) || std::str::from_utf8(image).is_err() {
        return reject("it is neither PTX nor a cubin");
    } else if image.iter().all(u8::is_ascii_whitespace) {
        return reject("it is empty");
    }
    let mut bytes = image.to_vec();
    bytes.push(0);
    Ok(CheckedImage(bytes))
}

/// Whether all that the ELF header speaks of lies within the image; `None` where the header does not.
fn cubin_fits(image: &[u8]) -> Option<bool> {
    let is_ours = image.len() >= ELF_HEADER_BYTES
        && image[4] == CLASS_64
        && number::<2>(image, 18)? == MACHINE_CUDA;
    let tables = [
        (number::<8>(image, 32)?, number::<2>(image, 54)?, number::<2>(image, 56)?),
        (number::<8>(image, 40)?, number::<2>(image, 58)?, number::<2>(image, 60)?),
    ];
    let within =
        |at: u64, bytes: u64| at.checked_add(bytes).is_some_and(|end| end <= image.len() as u64);
    if !is_ours || !tables.iter().all(|(at, size, count)| within(*at, size * count)) {
        return Some(false);
    }
    let [(programs, program_bytes, program_count), (sections, section_bytes, section_count)] =
        tables;
    for index in 0..program_count {
        let entry = (programs + index * program_bytes) as usize;
        if !within(number::<8>(image, entry + 8)?, number::<8>(image, entry + 32)?) {
            return Some(false);
        }
    }
    for index in 0..section_count {
        let entry = (sections + index * section_bytes) as usize;
        let has_bytes = number::<4>(image, entry + 4)? != SECTION_WITHOUT_BYTES;
        let (at, bytes) = (number::<8>(image, entry + 24)?, number::<8>(image, entry + 32)?);
        if has_bytes && !within(at, bytes) {
            return Some(false);
        }
    }
    Some(true)
}

fn number<const BYTES: usize>(image: &[u8], at: usize) -> Option<u64> {
    let found = image.get(at..at.checked_add(BYTES)?)?;
    Some(found.iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header, one section header after it, and what the section holds.
    fn cubin(section_at: u64, section_bytes: u64) -> Vec<u8> {
        let mut image = vec![0; 160];
        image[..4].copy_from_slice(ELF);
        image[4] = CLASS_64;
        image[18] = MACHINE_CUDA as u8;
        image[40] = 64;
        image[58] = 64;
        image[60] = 1;
        image[64 + 4] = 1;
        image[64 + 24..64 + 32].copy_from_slice(&section_at.to_le_bytes());
        image[64 + 32..64 + 40].copy_from_slice(&section_bytes.to_le_bytes());
        image
    }

    fn accepted(image: &[u8]) -> bool {
        checked(image).is_ok()
    }

    #[test]
    fn a_cubin_must_end_within_its_bytes() {
        assert!(accepted(&cubin(128, 32)));
        assert!(!accepted(&cubin(128, 33)));
        assert!(!accepted(&cubin(u64::MAX, 2)));
        assert!(!accepted(&cubin(128, 32)[..100]));
        assert!(!accepted(&cubin(128, 32)[..20]));
        let mut many = cubin(128, 32);
        many[60] = 200;
        assert!(!accepted(&many));
        let mut other = cubin(128, 32);
        other[18] = 62;
        assert!(!accepted(&other));
    }

    #[test]
    fn text_ends_with_one_zero() {
        let image = checked(b".version 8.4").expect("text");
        assert_eq!(image.bytes(), b".version 8.4\0");
        assert_eq!(checked(b".version 8.4\0").expect("text").bytes(), image.bytes());
        assert!(!accepted(b"a\0b"));
        assert!(!accepted(b" \n"));
        assert!(!accepted(b"\xff\xfe"));
    }
}
