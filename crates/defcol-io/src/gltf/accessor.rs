//! Numbers out of buffers.

use std::borrow::Cow;
use std::path::Path;

use crate::base64;
use crate::binary::{self, Endian, Scalar};
use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem};
use crate::json::{Json, Value};
use crate::text::check_coordinate;
use defcol::math::Vector3;

/// A document with its buffers, which are loaded when first needed.
pub(super) struct Document<'a> {
    pub root: Value<'a>,
    json: &'a Json<'a>,
    /// Where the JSON stands in the file.
    pub json_offset: usize,
    /// The binary chunk of a GLB.
    chunk: Option<&'a [u8]>,
    folder: Option<&'a Path>,
    buffers: Vec<Option<Cow<'a, [u8]>>>,
    buffer_values: Vec<Value<'a>>,
    pub skins: Vec<Value<'a>>,
    accessors: Vec<Value<'a>>,
    views: Vec<Value<'a>>,
}

/// An accessor whose extent has been checked.
#[derive(Clone, Copy)]
struct Layout {
    buffer: Option<usize>,
    start: usize,
    stride: usize,
    scalar: Scalar,
    components: usize,
    count: usize,
    normalized: bool,
}

pub(super) fn table<'a>(
    root: Value<'a>,
    key: &str,
    reading: &mut Reading,
) -> Parsed<Vec<Value<'a>>> {
    let Some(list) = root.get(key) else {
        return Ok(Vec::new());
    };
    let count = list.items().count();
    let mut items = reading.vec(count)?;
    items.extend(list.items());
    Ok(items)
}

impl<'a> Document<'a> {
    pub fn new(
        json: &'a Json<'a>,
        json_offset: usize,
        chunk: Option<&'a [u8]>,
        folder: Option<&'a Path>,
        reading: &mut Reading,
    ) -> Parsed<Self> {
        let root = json.root();
        let buffer_values = table(root, "buffers", reading)?;
        Ok(Self {
            root,
            json,
            json_offset,
            chunk,
            folder,
            buffers: reading.filled(None, buffer_values.len())?,
            buffer_values,
            skins: table(root, "skins", reading)?,
            accessors: table(root, "accessors", reading)?,
            views: table(root, "bufferViews", reading)?,
        })
    }

    /// Accounts for the look-ups so far.
    pub fn account(&self, reading: &mut Reading) -> Parsed<()> {
        reading.repeat(self.json.work())
    }

    /// A fault at a value of the document.
    pub fn fault(&self, value: Value, problem: Problem) -> Fault {
        Fault::text(self.json_offset + value.offset(), problem)
    }

    pub fn wrong(&self, value: Value, text: impl Into<String>) -> Fault {
        self.fault(value, Problem::Inconsistent(text.into()))
    }

    /// The item of a table that a value names.
    pub fn item<'b>(
        &self,
        table: &[Value<'b>],
        what: &'static str,
        value: Value,
    ) -> Parsed<(usize, Value<'b>)> {
        let index = value.index().unwrap_or(usize::MAX);
        match table.get(index) {
            Some(item) => Ok((index, *item)),
            None => {
                let index = value.number().unwrap_or(-1.0) as i64;
                let count = table.len();
                Err(self.fault(value, Problem::IndexOutOfRange { what, index, count }))
            }
        }
    }

    /// A property that is a whole number, or its default.
    fn whole(&self, value: Value, key: &str, default: usize) -> Parsed<usize> {
        match value.get(key) {
            None => Ok(default),
            Some(number) => number.index().ok_or_else(|| {
                self.wrong(number, format!("`{key}` must be a whole number that is not negative"))
            }),
        }
    }

    fn layout(&self, accessor: Value) -> Parsed<Layout> {
        let scalar = scalar_of(accessor.get("componentType"))
            .ok_or_else(|| self.wrong(accessor, "the accessor has no known componentType"))?;
        let kind = accessor.get("type").and_then(Value::string).unwrap_or_default();
        let components = match kind.as_ref() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" | "MAT2" => 4,
            "MAT3" => 9,
            "MAT4" => 16,
            _ => return Err(self.wrong(accessor, "the accessor has no known type")),
        };
        let count = self.whole(accessor, "count", 0)?;
        let mut layout = Layout {
            buffer: None,
            start: self.whole(accessor, "byteOffset", 0)?,
            stride: components * scalar.size(),
            scalar,
            components,
            count,
            normalized: accessor.get("normalized").is_some_and(Value::is_true),
        };
        if let Some(view) = accessor.get("bufferView") {
            self.place(&mut layout, view)?;
        }
        Ok(layout)
    }

    /// Puts an accessor into the buffer view that it names, and checks that it fits.
    fn place(&self, layout: &mut Layout, name: Value) -> Parsed<()> {
        let (_, view) = self.item(&self.views, "bufferView", name)?;
        let missing = || self.wrong(view, "the bufferView names no buffer");
        let buffer = view.get("buffer").ok_or_else(missing)?;
        let index = buffer.index().filter(|index| *index < self.buffers.len());
        layout.buffer = Some(index.ok_or_else(missing)?);
        let tight = layout.stride;
        layout.stride = self.whole(view, "byteStride", tight)?;
        let length = self.whole(view, "byteLength", 0)?;
        let needed = match layout.count {
            0 => 0,
            count => (count - 1).saturating_mul(layout.stride).saturating_add(tight),
        };
        if layout.start.saturating_add(needed) > length || layout.stride < tight {
            let what = "items of an accessor";
            let room = length.saturating_sub(layout.start) / layout.stride.max(1);
            let problem =
                Problem::ImpossibleCount { what, count: layout.count as u64, room: room as u64 };
            return Err(self.fault(name, problem));
        }
        layout.start = layout.start.saturating_add(self.whole(view, "byteOffset", 0)?);
        Ok(())
    }

    /// All numbers of an accessor, `components` an item, and the number of items.
    pub fn numbers(
        &mut self,
        name: Value,
        components: usize,
        reading: &mut Reading,
    ) -> Parsed<(Vec<f64>, usize)> {
        let (_, accessor) = self.item(&self.accessors, "accessor", name)?;
        let layout = self.layout(accessor)?;
        if layout.components != components {
            return Err(self.wrong(
                accessor,
                format!(
                    "the accessor has {} components where {components} are needed",
                    layout.components
                ),
            ));
        }
        let total = layout.count.saturating_mul(components);
        reading.take::<f64>(total)?;
        let mut numbers = Vec::with_capacity(total);
        match layout.buffer {
            // Without a buffer all numbers are zero.
            None => numbers.resize(total, 0.0),
            Some(_) => self.decode(accessor, &layout, &mut numbers, reading)?,
        }
        if let Some(sparse) = accessor.get("sparse") {
            self.replace(sparse, &layout, &mut numbers, reading)?;
        }
        Ok((numbers, layout.count))
    }

    fn decode(
        &mut self,
        accessor: Value,
        layout: &Layout,
        numbers: &mut Vec<f64>,
        reading: &mut Reading,
    ) -> Parsed<()> {
        let Layout { scalar, stride, components, start, .. } = *layout;
        let scale = if layout.normalized { scalar_range(scalar) } else { 1.0 };
        let fault =
            self.fault(accessor, Problem::Truncated { expected: "the buffer of an accessor" });
        let buffer = self.buffer(layout.buffer.unwrap_or(0), reading)?;
        let tight = components * scalar.size();
        for item in 0..layout.count {
            let at = start.saturating_add(item.saturating_mul(stride));
            let Some(bytes) = buffer.get(at..at.saturating_add(tight)) else {
                return Err(fault);
            };
            let values = bytes.chunks_exact(scalar.size());
            numbers.extend(values.map(|value| {
                (scalar.real(value, Endian::Little) / scale).max(if scale > 1.0 {
                    -1.0
                } else {
                    f64::NEG_INFINITY
                })
            }));
        }
        Ok(())
    }

    /// Sparse accessors: some items are replaced.
    fn replace(
        &mut self,
        sparse: Value,
        layout: &Layout,
        numbers: &mut [f64],
        reading: &mut Reading,
    ) -> Parsed<()> {
        let count = self.whole(sparse, "count", 0)?;
        let missing = || self.wrong(sparse, "the sparse accessor lacks indices or values");
        let (indices, values) =
            (sparse.get("indices").ok_or_else(missing)?, sparse.get("values").ok_or_else(missing)?);
        let scalar = scalar_of(indices.get("componentType"))
            .filter(|scalar| matches!(scalar, Scalar::U8 | Scalar::U16 | Scalar::U32))
            .ok_or_else(missing)?;
        let mut part = |view: Value, scalar: Scalar, components: usize| {
            let mut layout = Layout {
                buffer: None,
                start: self.whole(view, "byteOffset", 0)?,
                stride: components * scalar.size(),
                scalar,
                components,
                count,
                normalized: layout.normalized && components > 1,
            };
            self.place(&mut layout, view.get("bufferView").unwrap_or(view))?;
            reading.take::<f64>(count.saturating_mul(components))?;
            let mut numbers = Vec::with_capacity(count.saturating_mul(components));
            self.decode(view, &layout, &mut numbers, reading)?;
            Ok::<_, Fault>(numbers)
        };
        let indices = part(indices, scalar, 1)?;
        let values = part(values, layout.scalar, layout.components)?;
        for (index, value) in indices.iter().zip(values.chunks_exact(layout.components)) {
            let at = (*index as usize).saturating_mul(layout.components);
            match numbers.get_mut(at..at.saturating_add(layout.components)) {
                Some(slot) => slot.copy_from_slice(value),
                None => {
                    let (what, index) = ("item of a sparse accessor", *index as i64);
                    let problem = Problem::IndexOutOfRange { what, index, count: layout.count };
                    return Err(self.fault(sparse, problem));
                }
            }
        }
        Ok(())
    }

    /// An accessor of positions or displacements.
    pub fn vectors(&mut self, name: Value, reading: &mut Reading) -> Parsed<Vec<Vector3<f64>>> {
        let (_, accessor) = self.item(&self.accessors, "accessor", name)?;
        let layout = self.layout(accessor)?;
        let simple =
            layout.buffer.is_some() && !layout.normalized && accessor.get("sparse").is_none();
        if simple && layout.components == 3 {
            let fault =
                self.fault(accessor, Problem::Truncated { expected: "the buffer of an accessor" });
            let mut vectors = reading.vec(layout.count)?;
            let Layout { buffer, start, stride, scalar, count, .. } = layout;
            let buffer = self.buffer(buffer.unwrap_or(0), reading)?;
            // The last item may lack the padding of the others.
            let whole = count.saturating_sub(1).saturating_mul(stride);
            let tight = 3 * scalar.size();
            let records =
                buffer.get(start..).and_then(|rest| rest.get(..whole.saturating_add(tight)));
            let Some(records) = records.filter(|_| count > 0) else {
                return if count == 0 { Ok(vectors) } else { Err(fault) };
            };
            let fields = [0, 1, 2].map(|k| (scalar, k * scalar.size()));
            let (most, last) = records.split_at(whole);
            let read = binary::Layout { stride, fields }
                .positions(most, 0, Endian::Little, &mut vectors)
                .and_then(|()| {
                    binary::Layout { stride: tight, fields }.positions(
                        last,
                        0,
                        Endian::Little,
                        &mut vectors,
                    )
                });
            // Offsets within a buffer mean nothing in the file.
            return read.map(|()| vectors).map_err(|fault| self.fault(accessor, fault.problem));
        }
        let before = reading.taken();
        let (numbers, count) = self.numbers(name, 3, reading)?;
        if let Some(problem) = numbers.iter().find_map(|&value| check_coordinate(value).err()) {
            return Err(self.fault(name, problem));
        }
        reading.take::<Vector3<f64>>(count)?;
        let vectors = numbers.chunks_exact(3).map(|v| Vector3::new(v[0], v[1], v[2])).collect();
        drop(numbers);
        reading.release_to(before)?;
        reading.take::<Vector3<f64>>(count)?;
        Ok(vectors)
    }

    /// An accessor of indices, each below `limit`.
    pub fn indices(
        &mut self,
        name: Value,
        limit: usize,
        reading: &mut Reading,
    ) -> Parsed<Vec<u32>> {
        let (_, accessor) = self.item(&self.accessors, "accessor", name)?;
        let layout = self.layout(accessor)?;
        let Layout { buffer: Some(buffer), start, stride, scalar, components: 1, count, .. } =
            layout
        else {
            return Err(self.wrong(accessor, "indices must be single numbers in a buffer"));
        };
        let size = scalar.size();
        let fault =
            self.fault(accessor, Problem::Truncated { expected: "the buffer of an accessor" });
        let mut indices = reading.vec(count)?;
        let bytes = self.buffer(buffer, reading)?;
        let length =
            count.saturating_sub(1).saturating_mul(stride).saturating_add(size.min(count * size));
        let Some(bytes) = bytes.get(start..).and_then(|rest| rest.get(..length)) else {
            return Err(fault);
        };
        let items = bytes.chunks(stride.max(1));
        indices.extend(items.map(|item| match scalar {
            Scalar::U32 => u32::from_le_bytes([item[0], item[1], item[2], item[3]]),
            _ => u32::try_from(scalar.integer(item, Endian::Little)).unwrap_or(u32::MAX),
        }));
        match indices.iter().find(|&&index| index as usize >= limit) {
            None => Ok(indices),
            Some(&index) => {
                let (what, index) = ("vertex", i64::from(index));
                Err(self.fault(name, Problem::IndexOutOfRange { what, index, count: limit }))
            }
        }
    }

    fn buffer(&mut self, index: usize, reading: &mut Reading) -> Parsed<&[u8]> {
        if self.buffers[index].is_none() {
            self.buffers[index] = Some(self.load(index, reading)?);
        }
        Ok(self.buffers[index].as_deref().unwrap_or_default())
    }

    fn load(&self, index: usize, reading: &mut Reading) -> Parsed<Cow<'a, [u8]>> {
        let buffer = self.buffer_values[index];
        let Some(uri) = buffer.get("uri") else {
            let missing = "the buffer has no uri, and there is no binary chunk for it";
            return match self.chunk {
                Some(chunk) if index == 0 => Ok(Cow::Borrowed(chunk)),
                _ => Err(self.wrong(buffer, missing)),
            };
        };
        let text = uri.string().ok_or_else(|| self.wrong(uri, "the uri is no string"))?;
        if let Some(rest) = text.strip_prefix("data:") {
            let (kind, data) = rest.split_once(',').unwrap_or((rest, ""));
            if !kind.ends_with(";base64") {
                return Err(self.wrong(uri, "the data uri is not base64"));
            }
            let mut bytes = reading.vec(data.len() / 4 * 3 + 3)?;
            let used = base64::decode(data.as_bytes(), &mut bytes);
            if used != Some(data.len()) {
                return Err(self.wrong(uri, "the data uri is broken base64"));
            }
            return Ok(Cow::Owned(bytes));
        }
        let name = percent_decoded(&text);
        let path = crate::beside(self.folder, &name).map_err(|problem| self.fault(uri, problem))?;
        let size = std::fs::metadata(&path).map_or(0, |facts| facts.len() as usize);
        // A second buffer in the same file would count its size twice: at most 15 do.
        let known = self.buffer_values[..index].iter();
        if known
            .filter_map(|other| other.get("uri"))
            .any(|other| other.string().as_deref() == Some(&text))
        {
            reading.take::<u8>(size)?;
        } else {
            reading.add_file(size)?;
        }
        let bytes = crate::load_limited(&path, size, reading.progress);
        Ok(Cow::Owned(bytes.map_err(|problem| self.fault(uri, problem))?))
    }
}

fn scalar_of(value: Option<Value>) -> Option<Scalar> {
    Some(match value?.index()? {
        5120 => Scalar::I8,
        5121 => Scalar::U8,
        5122 => Scalar::I16,
        5123 => Scalar::U16,
        5125 => Scalar::U32,
        5126 => Scalar::F32,
        _ => return None,
    })
}

/// What a normalized integer is divided by.
fn scalar_range(scalar: Scalar) -> f64 {
    match scalar {
        Scalar::I8 => 127.0,
        Scalar::U8 => 255.0,
        Scalar::I16 => 32767.0,
        Scalar::U16 => 65535.0,
        _ => 1.0,
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let code = others.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &others[2..];
            }
            _ => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
