//! Files of points: text with three numbers a line, NumPy arrays, and the vertices of any mesh.

use std::path::Path;

use defcol::math::Vector3;

use crate::binary::{Bytes, Endian, Scalar};
use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem, ReadError, excerpt};
use crate::format::Format;
use crate::progress::Progress;
use crate::text::check_coordinate;
use crate::{load, read};

type Parse = fn(&[u8], &mut Reading) -> Parsed<Vec<Vector3<f64>>>;

/// Reads points; the ending tells the format: `.xyz`, `.txt` and `.csv` are text with three numbers in each
/// line, or with columns named x, y and z; `.npy` is a NumPy array of three columns; a mesh gives its vertices.
///
/// ```
/// let file = std::env::temp_dir().join("defcol-points.csv");
/// std::fs::write(&file, "name,x,y,z\na,1,2,3\nb,4,5,6\n")?;
/// let points = defcol_io::read_points(&file, &defcol_io::Progress::default())?;
/// assert_eq!((points.len(), points[1].z), (2, 6.0));
/// # std::fs::remove_file(file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_points(path: &Path, progress: &Progress) -> Result<Vec<Vector3<f64>>, ReadError> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    let parse: Parse = match ending.as_str() {
        "xyz" | "txt" | "csv" => parse_text,
        "npy" => parse_npy,
        _ if Format::of_path(path).is_some() => {
            return Ok(read(path, progress)?.mesh.positions);
        }
        _ => {
            let known = format!(".xyz .txt .csv .npy {}", Format::list(|_| true));
            let fault = Fault::file(Problem::UnknownFormat { known });
            return Err(fault.located(&[], Some(path)));
        }
    };
    let bytes = load(path, progress)?;
    let mut reading = Reading::new(bytes.len(), progress);
    let checked = parse(&bytes, &mut reading).and_then(|points| {
        if points.is_empty() { Err(Fault::file(Problem::Empty)) } else { Ok(points) }
    });
    checked.map_err(|fault| fault.located(&bytes, Some(path)))
}

/// Numbers stand between white space, commas or semicolons.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let between = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';');
    line.split(between).filter(|word| !word.is_empty())
}

fn number(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn parse_text(bytes: &[u8], reading: &mut Reading) -> Parsed<Vec<Vector3<f64>>> {
    // No line with three numbers is shorter.
    let lines = || bytes.split(|&byte| byte == b'\n');
    let mut points = reading.vec(lines().filter(|line| line.len() >= 5).count())?;
    let mut columns = [0, 1, 2];
    let mut is_first = true;
    let mut offset = 0;
    for line in lines() {
        let start = offset;
        offset += line.len() + 1;
        let text = line.split(|&byte| byte == b'#').next().unwrap_or_default();
        let Some(word) = words(text).next() else {
            continue;
        };
        if std::mem::take(&mut is_first) && number(word).is_none() {
            columns = named_columns(text);
            continue;
        }
        let mut point = Vector3::zeros();
        for (axis, column) in columns.into_iter().enumerate() {
            let at = |word: &[u8]| start + (word.as_ptr() as usize - line.as_ptr() as usize);
            let Some(word) = words(text).nth(column) else {
                let expected = "three coordinates";
                let found = excerpt(text.trim_ascii());
                return Err(Fault::text(start, Problem::Syntax { expected, found }));
            };
            let value = number(word).ok_or_else(|| {
                let (expected, found) = ("a coordinate", excerpt(word));
                Fault::text(at(word), Problem::Syntax { expected, found })
            })?;
            point[axis] =
                check_coordinate(value).map_err(|problem| Fault::text(at(word), problem))?;
        }
        points.push(point);
        if points.len() % (1 << 16) == 0 {
            reading.reached(offset)?;
        }
    }
    Ok(points)
}

/// The columns named x, y and z in a first line of names; the first three if there are none.
fn named_columns(line: &[u8]) -> [usize; 3] {
    let find = |name: &[u8]| {
        words(line).position(|word| {
            let bare = word.trim_ascii().strip_prefix(b"\"").unwrap_or(word);
            bare.strip_suffix(b"\"").unwrap_or(bare).eq_ignore_ascii_case(name)
        })
    };
    match [find(b"x"), find(b"y"), find(b"z")] {
        [Some(x), Some(y), Some(z)] => [x, y, z],
        _ => [0, 1, 2],
    }
}

fn parse_npy(bytes: &[u8], reading: &mut Reading) -> Parsed<Vec<Vector3<f64>>> {
    let wrong =
        || Fault::byte(0, Problem::WrongMagic { format: "a NumPy array", expected: "\\x93NUMPY" });
    let mut cursor = Bytes::new(bytes, 0, Endian::Little);
    if cursor.take(6, "a NumPy header").map_err(|_| wrong())? != b"\x93NUMPY" {
        return Err(wrong());
    }
    let version = cursor.take(2, "the version")?[0];
    let size = if version == 1 { Scalar::U16 } else { Scalar::U32 };
    let length = cursor.count(size, "bytes of the header", 1)?;
    let start = cursor.offset;
    let header = String::from_utf8_lossy(cursor.take(length, "the header")?).into_owned();
    let fault = |what: String, way_out| Fault::byte(start, Problem::Unsupported { what, way_out });
    // Behind the quoted name and a colon, without white space.
    let value = |name: &str| {
        let rest = header.split_once(&format!("'{name}'")).map_or("", |(_, rest)| rest);
        rest.trim_start().trim_start_matches(':').trim_start().to_owned()
    };
    let kind = value("descr");
    let kind = kind.trim_start_matches('\'').split('\'').next().unwrap_or("").to_owned();
    let (endian, scalar) = match kind.as_str() {
        "<f4" => (Endian::Little, Scalar::F32),
        "<f8" => (Endian::Little, Scalar::F64),
        ">f4" => (Endian::Big, Scalar::F32),
        ">f8" => (Endian::Big, Scalar::F64),
        _ => {
            let what = format!("an array of `{}` is", excerpt(kind.as_bytes()));
            return Err(fault(what, "save it as float32 or float64"));
        }
    };
    let shape = value("shape");
    let shape: Vec<u64> = shape
        .trim_start_matches('(')
        .split(')')
        .next()
        .unwrap_or("")
        .split(',')
        .filter_map(|word| word.trim().parse().ok())
        .collect();
    let &[count, 3] = shape.as_slice() else {
        let what = format!("an array of shape {shape:?} is");
        return Err(fault(what, "save it with a row for each point and three columns"));
    };
    if value("fortran_order").starts_with("True") {
        let what = "an array in Fortran order is".to_owned();
        return Err(fault(what, "save it with numpy.ascontiguousarray"));
    }
    let room = cursor.rest().len() / (3 * scalar.size());
    if count > room as u64 {
        let problem = Problem::ImpossibleCount { what: "points", count, room: room as u64 };
        return Err(Fault::byte(start, problem));
    }
    let mut points = reading.vec(count as usize)?;
    cursor.endian = endian;
    cursor.positions(scalar, count as usize, &mut points)?;
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str, bytes: &[u8]) -> Result<Vec<Vector3<f64>>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        read_points(&path, &Progress::default()).map_err(|error| error.to_string())
    }

    fn npy(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn text_in_many_forms() {
        let expected = vec![Vector3::new(1.0, 2.0, 3.0), Vector3::new(-4.0, 5e-1, 6.0)];
        for (name, text) in [
            ("a.xyz", "1 2 3\n-4 0.5 6\n"),
            ("a.xyz", "# points\n\n  1\t2 3 # one\r\n-4 5e-1 6"),
            ("a.csv", "1,2,3\n-4,0.5,6\n"),
            ("a.csv", "x;y;z\n1;2;3\n-4; 0.5; 6\n"),
            ("a.csv", "\"z\",\"name\",\"x\",\"y\"\n3,a,1,2\n6,b,-4,0.5\n"),
            ("a.txt", "1 2 3 0.1 0.2 0.3\n-4 0.5 6 0 0 1\n"),
        ] {
            assert_eq!(parsed(name, text.as_bytes()).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn arrays() {
        let numbers = [1.0f64, 2.0, 3.0, -4.0, 0.5, 6.0];
        let expected = Ok(vec![Vector3::new(1.0, 2.0, 3.0), Vector3::new(-4.0, 0.5, 6.0)]);
        let doubles: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(parsed("a.npy", &npy("<f8", "(2, 3)", &doubles)), expected);
        let singles: Vec<u8> = numbers.iter().flat_map(|&x| (x as f32).to_be_bytes()).collect();
        assert_eq!(parsed("a.npy", &npy(">f4", "(2, 3)", &singles)), expected);
        for (kind, shape, data) in [
            ("<f8", "(3, 3)", &doubles[..]),
            ("<f8", "(2, 3)", &doubles[..47]),
            ("<f8", "(6,)", &doubles[..]),
            ("<i4", "(2, 3)", &doubles[..]),
            ("<f8", "(18446744073709551615, 3)", &doubles[..]),
        ] {
            assert!(parsed("a.npy", &npy(kind, shape, data)).is_err(), "{kind} {shape}");
        }
        let whole = npy("<f8", "(2, 3)", &doubles);
        for length in 0..whole.len() {
            assert!(parsed("a.npy", &whole[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, words) in [
            ("1 2 3\n4 5\n", ["line 2", "three coordinates"]),
            ("1 2 3\n4 five 6\n", ["line 2", "five"]),
            ("1 2 nan\n", ["line 1", "not finite"]),
            ("1 2 3\n\n1e70 0 0\n", ["line 3", "1e60"]),
        ] {
            let message = parsed("a.xyz", text.as_bytes()).expect_err(text);
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
        }
        assert!(parsed("a.xyz", b"# nothing\n").is_err());
        assert!(parsed("a.xyz", b"").is_err());
        let unknown = parsed("a.doc", b"1 2 3").expect_err("no such format");
        assert!(unknown.contains(".npy") && unknown.contains(".ply"), "{unknown}");
    }
}
