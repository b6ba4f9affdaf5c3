//! Reading recordings: whole ones, and what is left of others.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use defcol::contact::Contacts;
use defcol::math::Vector3;

use crate::bodies::Topology;
use crate::container::{self, Fields, Inner, MAGIC, Message, Record};
use crate::facts::Facts;
use crate::input::{Input, Timed};
use crate::positions::{self, Codec};
use crate::{CHANNELS, Channel, Event, FrameEnd, RecordingError, contacts, hash};

/// What is missing of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Where reading had to end.
    pub at: u64,
    /// Bytes from there to the end of the file.
    pub bytes: u64,
    /// Why.
    pub what: String,
}

/// A run that ended before its time.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    /// The last frame.
    pub frame: u64,
    /// Why there is no other: `interrupted`, or `failed: ` and the error of the world.
    pub why: String,
    /// What was changed before the frame that never came.
    pub inputs: Vec<Input>,
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    /// Its number; 0 is the state before the first step.
    pub number: u64,
    /// The time of the simulation, in s.
    pub time: f64,
    /// The hash of the state of the world.
    pub state_hash: u64,
    /// The bodies.
    pub bodies: Arc<Topology>,
    /// Where all vertices are.
    pub positions: Vec<Vector3<f64>>,
    /// The contacts that were found in the step that led here; none if they were not kept.
    pub contacts: Option<Contacts<f64>>,
    /// How many contacts there were: between bodies, and of bodies with themselves.
    pub contact_counts: [usize; 2],
    /// Milliseconds of each stage.
    pub stages: BTreeMap<String, f64>,
    /// What was changed from outside before the step.
    pub inputs: Vec<Input>,
}

/// A recording. Opening it checks every checksum; frames are read when they are asked for, and memory is that of a chunk.
#[derive(Debug)]
pub struct Recording<T> {
    file: T,
    size: u64,
    facts: Facts,
    bodies: Vec<Arc<Topology>>,
    channels: Vec<(u16, Channel)>,
    chunks: Vec<Chunk>,
    loss: Option<Loss>,
    stop: Option<Stop>,
    cursor: Cursor,
}

/// A chunk with frames.
#[derive(Debug)]
struct Chunk {
    record: Record,
    /// The numbers of its frames.
    frames: Vec<u64>,
    /// Whether it is what is left of a chunk that is not whole.
    is_part: bool,
}

/// The chunk that is being read, and how far.
#[derive(Debug, Default)]
struct Cursor {
    chunk: Option<usize>,
    packed: Vec<u8>,
    bytes: Vec<u8>,
    at: usize,
    /// Frames of the chunk that have been read; the last of them is `frame`.
    read: usize,
    codec: Codec,
    frame: Frame,
}

impl Recording<BufReader<File>> {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        // Before it is opened: a pipe would be waited for.
        if !std::fs::metadata(path)?.is_file() {
            return Err(RecordingError::Foreign("not a regular file".into()));
        }
        Self::new(BufReader::new(File::open(path)?))
    }
}

/// What a pass over the whole file finds.
#[derive(Default)]
struct Survey {
    facts: Option<Facts>,
    bodies: Vec<Arc<Topology>>,
    channels: Vec<(u16, Channel)>,
    chunks: Vec<Chunk>,
    frames: u32,
    end: Option<u64>,
    /// Whether the file says that it is of another program.
    foreign: bool,
    /// Inputs behind the last frame.
    pending: Vec<Input>,
    stop: Option<Stop>,
}

impl<T: Read + Seek> Recording<T> {
    /// Opens anything that can be read like a file.
    pub fn new(mut file: T) -> Result<Self, RecordingError> {
        let size = container::size(&mut file)?;
        let mut magic = [0; 8];
        file.seek(SeekFrom::Start(0))?;
        if size < 8 || file.read_exact(&mut magic).is_err() || magic != *MAGIC {
            let text = "it does not begin like an MCAP file";
            return Err(RecordingError::Foreign(text.into()));
        }
        let mut survey = Survey::default();
        let mut cursor = Cursor::default();
        let loss = match survey.take(&mut file, size, &mut cursor) {
            Ok(()) => None,
            // A machine that cannot read its disk tells nothing about the file.
            Err(RecordingError::Damaged { at, what }) => Some(Loss { at, bytes: size - at, what }),
            Err(other) => return Err(other),
        };
        let Survey { facts, bodies, channels, chunks, foreign, stop, .. } = survey;
        if facts.is_none() && foreign {
            return Err(RecordingError::Foreign("it is MCAP, but of another program".into()));
        }
        let nothing = |what: &str| match &loss {
            Some(Loss { at, what, .. }) => RecordingError::Damaged { at: *at, what: what.clone() },
            None => RecordingError::Damaged { at: 0, what: what.into() },
        };
        let facts = facts.ok_or_else(|| nothing("the facts about the run are missing"))?;
        if chunks.is_empty() {
            return Err(nothing("there is no frame in it"));
        }
        cursor.chunk = None;
        Ok(Self { file, size, facts, bodies, channels, chunks, loss, stop, cursor })
    }

    /// Facts about the run.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What is missing; none if the recording is whole.
    pub fn loss(&self) -> Option<&Loss> {
        self.loss.as_ref()
    }

    /// How the run ended before its time; none if it did not, or nobody knows.
    pub fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }

    /// The size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The numbers of all frames, in order.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = u64> {
        self.chunks.iter().flat_map(|chunk| chunk.frames.iter().copied())
    }

    /// How many frames there are.
    pub fn frame_count(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.frames.len()).sum()
    }

    /// The number of the last frame.
    pub fn last_frame(&self) -> u64 {
        self.frames().next_back().unwrap_or(0)
    }

    /// Reads a frame. From a frame to the next this takes a step, to any other one up to a chunk.
    pub fn frame(&mut self, number: u64) -> Result<&Frame, RecordingError> {
        let missing = || RecordingError::NoSuchFrame {
            frame: number,
            first: self.frames().next().unwrap_or(0),
            last: self.last_frame(),
        };
        let after = self.chunks.partition_point(|chunk| chunk.frames[0] <= number);
        let chunk = after.checked_sub(1).ok_or_else(missing)?;
        let place = self.chunks[chunk].frames.binary_search(&number).map_err(|_| missing())?;
        if self.cursor.chunk != Some(chunk) || self.cursor.read > place + 1 {
            self.cursor.chunk = None;
            self.load(chunk)?;
        }
        while self.cursor.read <= place {
            if let Err(what) = self.advance() {
                self.cursor.chunk = None;
                return Err(self.chunks[chunk].record.damaged(what));
            }
        }
        Ok(&self.cursor.frame)
    }

    fn load(&mut self, chunk: usize) -> Result<(), RecordingError> {
        let (record, cursor) = (&self.chunks[chunk].record, &mut self.cursor);
        container::contents(&mut self.file, record, &mut cursor.packed)?;
        if self.chunks[chunk].is_part {
            container::unpack_part(&cursor.packed, &mut cursor.bytes);
        } else {
            container::unpack(record, &cursor.packed, &mut cursor.bytes)?;
        }
        cursor.codec.restart();
        (cursor.at, cursor.read, cursor.chunk) = (0, 0, Some(chunk));
        Ok(())
    }

    /// Reads the next frame of the chunk.
    fn advance(&mut self) -> Result<(), String> {
        let Cursor { bytes, at, codec, frame, read, .. } = &mut self.cursor;
        frame.inputs.clear();
        frame.contacts = None;
        frame.stages.clear();
        let mut has_positions = false;
        let mut fields = Fields::new(&bytes[*at..]);
        while let Some(inner) = container::next_inner(&mut fields)? {
            let Inner::Message(message) = inner else { continue };
            let json = |error: serde_json::Error| error.to_string();
            match channel_of(&self.channels, message.channel) {
                Some(Channel::Inputs) => {
                    let timed: Timed = serde_json::from_slice(message.data).map_err(json)?;
                    frame.inputs.push(timed.input);
                }
                Some(Channel::Positions) => {
                    let own = codec.decode(message.data, &mut frame.positions);
                    let bodies = own.and_then(|number| self.bodies.get(number as usize));
                    frame.bodies = bodies.ok_or("positions cannot be read")?.clone();
                    if frame.bodies.vertex_count() != frame.positions.len() {
                        return Err("positions are of other bodies".into());
                    }
                    if !frame.positions.iter().flatten().all(|x| x.is_finite()) {
                        return Err("a position is not finite".into());
                    }
                    has_positions = true;
                }
                Some(Channel::Contacts) if has_positions => {
                    let (bodies, vertices) = (frame.bodies.bodies.len(), frame.positions.len());
                    let found = contacts::decode(message.data, bodies, vertices);
                    frame.contacts = Some(found.ok_or("contacts cannot be read")?);
                }
                Some(Channel::Stages) => {
                    frame.stages = serde_json::from_slice(message.data).map_err(json)?;
                }
                Some(Channel::Frames) => {
                    let end: FrameEnd = serde_json::from_slice(message.data).map_err(json)?;
                    let number = |text: &str| u64::from_str_radix(text, 16).ok();
                    if !has_positions || number(&end.positions_hash) != Some(hash(&frame.positions))
                    {
                        return Err(format!("the hash of frame {} is wrong", end.frame));
                    }
                    frame.state_hash = number(&end.state_hash).ok_or("a hash is no number")?;
                    (frame.number, frame.time) = (end.frame, end.time);
                    frame.contact_counts = [end.contacts, end.self_contacts];
                    *at = bytes.len() - fields.len();
                    *read += 1;
                    return Ok(());
                }
                Some(Channel::Contacts | Channel::Events) | None => {}
            }
        }
        Err("the chunk has fewer frames than when it was opened".into())
    }
}

fn channel_of(channels: &[(u16, Channel)], id: u16) -> Option<Channel> {
    channels.iter().find(|(own, _)| *own == id).map(|(_, channel)| *channel)
}

impl Survey {
    /// Looks at all records up to the end, or to the first that is damaged; of that one whole frames are taken.
    fn take<T: Read + Seek>(
        &mut self,
        file: &mut T,
        size: u64,
        memory: &mut Cursor,
    ) -> Result<(), RecordingError> {
        let result = self.take_whole(file, size, memory);
        if let Err(RecordingError::Damaged { at, .. }) = result
            && size - at > 9
        {
            // What its length should be is not known, or not to be believed.
            let length = (size - at - 9).min(container::MOST_IN_CHUNK);
            let record = Record { kind: container::CHUNK, at, length };
            container::contents(file, &record, &mut memory.packed)?;
            container::unpack_part(&memory.packed, &mut memory.bytes);
            self.part(record, &memory.bytes);
        }
        result
    }

    fn take_whole<T: Read + Seek>(
        &mut self,
        file: &mut T,
        size: u64,
        memory: &mut Cursor,
    ) -> Result<(), RecordingError> {
        let mut at = MAGIC.len() as u64;
        while let Some(record) = container::record_at(file, at, size)? {
            match record.kind {
                container::HEADER => {
                    container::contents(file, &record, &mut memory.packed)?;
                    let profile = Fields::new(&memory.packed).text();
                    self.foreign = profile.is_some_and(|profile| profile != "defcol");
                }
                container::ATTACHMENT => {
                    container::contents(file, &record, &mut memory.packed)?;
                    self.attachment(&record, &memory.packed)?;
                }
                container::CHUNK => {
                    container::contents(file, &record, &mut memory.packed)?;
                    container::unpack(&record, &memory.packed, &mut memory.bytes)?;
                    self.chunk(record, &memory.bytes)?;
                }
                container::DATA_END => {
                    return match (self.end, self.chunks.last().and_then(|c| c.frames.last())) {
                        (Some(end), Some(&last)) if end == last => Ok(()),
                        (Some(end), _) => {
                            Err(record.damaged(format!("frames up to {end} are missing")))
                        }
                        (None, _) => Err(record.damaged("the last chunk is missing")),
                    };
                }
                _ => {}
            }
            at = record.end();
        }
        let what = "the recording was not brought to its end".into();
        Err(RecordingError::Damaged { at, what })
    }

    fn attachment(&mut self, record: &Record, bytes: &[u8]) -> Result<(), RecordingError> {
        let attachment = container::attachment(record, bytes)?;
        if attachment.name == "defcol.recording" {
            self.facts = Some(Facts::parse(attachment.data)?);
        } else if let Some(number) = attachment.name.strip_prefix("bodies/") {
            let bodies = Topology::decode(attachment.data)
                .filter(|_| number.parse() == Ok(self.bodies.len()));
            let bodies = bodies.ok_or_else(|| record.damaged("the bodies cannot be read"))?;
            self.bodies.push(Arc::new(bodies));
        }
        Ok(())
    }

    fn chunk(&mut self, record: Record, bytes: &[u8]) -> Result<(), RecordingError> {
        let mut frames: Vec<u64> = vec![];
        let mut fields = Fields::new(bytes);
        while let Some(message) =
            self.next_message(&mut fields).map_err(|what| record.damaged(what))?
        {
            let json = |error: serde_json::Error| record.damaged(error.to_string());
            match channel_of(&self.channels, message.channel) {
                Some(Channel::Frames) => {
                    let end: FrameEnd = serde_json::from_slice(message.data).map_err(json)?;
                    if !self.is_next(&message, end.frame, &frames) {
                        return Err(record.damaged("frames before this chunk are missing"));
                    }
                    self.frames += 1;
                    self.pending.clear();
                    frames.push(end.frame);
                }
                Some(Channel::Inputs) => {
                    let timed: Timed = serde_json::from_slice(message.data).map_err(json)?;
                    self.pending.push(timed.input);
                }
                Some(Channel::Positions) if !self.knows_bodies(message.data) => {
                    return Err(record.damaged("the bodies of a frame are missing"));
                }
                Some(Channel::Events) => {
                    match serde_json::from_slice(message.data).map_err(json)? {
                        Event::End { frame } => self.end = Some(frame),
                        Event::Stopped { frame, why } => {
                            let inputs = std::mem::take(&mut self.pending);
                            self.stop = Some(Stop { frame, why, inputs });
                        }
                        Event::ContactsDropped { .. } | Event::Whole { .. } => {}
                    }
                }
                _ => {}
            }
        }
        if !frames.is_empty() {
            self.chunks.push(Chunk { record, frames, is_part: false });
        }
        Ok(())
    }

    /// The next message of a chunk; channels before it are noted.
    fn next_message<'a>(
        &mut self,
        fields: &mut Fields<'a>,
    ) -> Result<Option<Message<'a>>, &'static str> {
        while let Some(inner) = container::next_inner(fields)? {
            match inner {
                Inner::Message(message) => return Ok(Some(message)),
                Inner::Channel(id, topic) => {
                    let known = CHANNELS.iter().position(|channel| channel[0] == topic);
                    let known = known.filter(|_| channel_of(&self.channels, id).is_none());
                    self.channels.extend(known.map(|index| (id, Channel::ALL[index])));
                }
                Inner::Other => {}
            }
        }
        Ok(None)
    }

    /// Whether a frame is the next one: behind those of its chunk so far, and those before.
    fn is_next(&self, message: &Message, number: u64, frames: &[u64]) -> bool {
        let before = self.chunks.last().and_then(|chunk| chunk.frames.last());
        let before = frames.last().or(before);
        message.sequence == self.frames && before.is_none_or(|before| *before < number)
    }

    /// Whether the bodies that positions are of have been read.
    fn knows_bodies(&self, positions: &[u8]) -> bool {
        positions::bodies_of(positions).is_some_and(|number| (number as usize) < self.bodies.len())
    }

    /// Takes frames from the beginning of a chunk that is not whole, as long as each has the checksum that it should have.
    fn part(&mut self, record: Record, bytes: &[u8]) {
        let mut frames: Vec<u64> = vec![];
        let mut fields = Fields::new(bytes);
        let (mut checksum, mut last) = (crc32fast::Hasher::new(), None);
        while let Ok(Some(message)) = self.next_message(&mut fields) {
            let Some(channel) = channel_of(&self.channels, message.channel) else { break };
            let event = match channel {
                Channel::Events => serde_json::from_slice::<Event>(message.data).ok(),
                _ => None,
            };
            if let Some(Event::Whole { frame, checksum: expected }) = event {
                let found = std::mem::take(&mut checksum).finalize();
                if found != expected || last != Some(frame) {
                    break;
                }
                self.frames += 1;
                frames.push(frame);
                continue;
            }
            if channel == Channel::Positions && !self.knows_bodies(message.data) {
                break;
            }
            checksum.update(&[channel as u8]);
            checksum.update(message.data);
            if channel == Channel::Frames {
                let Ok(end) = serde_json::from_slice::<FrameEnd>(message.data) else { break };
                if !self.is_next(&message, end.frame, &frames) {
                    break;
                }
                last = Some(end.frame);
            }
        }
        if !frames.is_empty() {
            self.chunks.push(Chunk { record, frames, is_part: true });
        }
    }
}
