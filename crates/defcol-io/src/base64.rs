//! Base64 (RFC 4648), as it is found in XML and data URIs: with white space, with or without
//! padding.

/// Decodes one segment behind the other, each with its own padding, until there are `least` bytes
/// (and the rest of a group of three), and gives the number of characters used; `None` if there are not
/// so many.
pub(crate) fn decode_segments(text: &[u8], least: usize) -> Option<(Vec<u8>, usize)> {
    let mut out = Vec::with_capacity(least + 3);
    let mut at = 0;
    while out.len() < least {
        match decode_until(&text[at..], least, &mut out)? {
            0 => return None,
            used => at += used,
        }
    }
    Some((out, at))
}

/// Decodes up to the first character that does not belong, appends to `out`, and gives the number
/// of characters used, padding included. `None` if a group has a single character.
pub(crate) fn decode(text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    decode_until(text, usize::MAX, out)
}

/// The same, but stops with the first group that makes `out` as long as `least`.
fn decode_until(text: &[u8], least: usize, out: &mut Vec<u8>) -> Option<usize> {
    let mut group = 0u32;
    let mut filled = 0;
    let mut used = 0;
    for &byte in text {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b' ' | b'\n' | b'\r' | b'\t' => {
                used += 1;
                continue;
            }
            _ => break,
        };
        used += 1;
        group = group << 6 | u32::from(digit);
        filled += 1;
        if filled == 4 {
            out.extend_from_slice(&group.to_be_bytes()[1..]);
            (group, filled) = (0, 0);
            if out.len() >= least {
                break;
            }
        }
    }
    match filled {
        0 => {}
        1 => return None,
        _ => {
            out.extend_from_slice(&(group << (6 * (4 - filled))).to_be_bytes()[1..filled]);
            let padding = text[used..].iter().take(4 - filled).take_while(|b| **b == b'=').count();
            used += padding;
        }
    }
    Some(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_the_standard() {
        for (text, plain) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmE=", "fooba"),
            ("Zm 9v\nYmFy", "foobar"),
            ("Zm9vYg", "foob"),
        ] {
            let mut out = vec![];
            assert_eq!(decode(text.as_bytes(), &mut out), Some(text.len()));
            assert_eq!(out, plain.as_bytes());
        }
        let plain = |text, least| decode_segments(text, least).map(|(plain, _)| plain);
        assert_eq!(plain(b"\n Z m9v YmFy\nZ g==\nZm8=", 8), Some(b"foobarffo".to_vec()));
        assert_eq!(plain(b"Zm9vYmFy", 2), Some(b"foo".to_vec()));
        assert_eq!(decode_segments(b"Zm9v", 4), None);
        assert_eq!(decode(b"Zm9vY", &mut vec![]), None);
        let mut out = vec![];
        assert_eq!(decode(b"Zg==Zm8=", &mut out), Some(4));
    }
}
