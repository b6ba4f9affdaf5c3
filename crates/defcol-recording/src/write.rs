//! Writing recordings while a simulation runs: frames go through a bounded queue to a thread that packs and writes them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use defcol::contact::Contacts;
use defcol::math::{Real, Vector3};
use defcol::stats::Stage;
use defcol::world::{ContactCounts, SimulationParameters, World};
use mcap::records::MessageHeader;
use mcap::write::NoSeek;

use crate::bodies::Topology;
use crate::container::MOST_IN_CHUNK;
use crate::facts::{Facts, Precision, Scene, Storage};
use crate::input::{Input, Timed};
use crate::positions::{self, Codec};
use crate::{CHANNELS, Channel, Event, FORMAT, FrameEnd, RecordingError, contacts, hash};

/// What happens if frames come faster than they can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenSlow {
    /// The simulation waits.
    #[default]
    Wait,
    /// Contacts are left out first; positions never are.
    DropContacts,
}

/// What keeps a recording from being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The disk is full; it has been for this long, zero when it is first met.
    Full(Duration),
    /// There is room again.
    RoomAgain,
    /// The disk cannot keep up: the simulation begins to wait, or contacts are left out.
    Slow,
}

/// Is told of trouble; says whether to go on trying.
pub type OnTrouble = Arc<dyn Fn(Trouble) -> bool + Send + Sync>;

/// How a recording is made.
#[derive(Clone)]
pub struct Plan {
    /// How to build the world again, if it is one of a catalogue.
    pub scene: Option<Scene>,
    /// How positions are kept.
    pub storage: Storage,
    /// What happens if the disk is too slow.
    pub when_slow: WhenSlow,
    /// Frames that may wait to be written.
    pub queue: usize,
    /// Frames in a chunk, which is what is lost at the most when everything stops.
    pub frames_per_chunk: usize,
    /// A chunk is written after this time even if it has fewer frames.
    pub longest: Duration,
    /// Who is told of trouble.
    pub on_trouble: OnTrouble,
}

impl Default for Plan {
    /// Exact positions, chunks of 30 frames or half a second.
    fn default() -> Self {
        Self {
            scene: None,
            storage: Storage::Exact,
            when_slow: WhenSlow::Wait,
            queue: 8,
            frames_per_chunk: 30,
            longest: Duration::from_millis(500),
            on_trouble: Arc::new(|_| true),
        }
    }
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Frames, the one before the first step included.
    pub frames: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// How long the simulation had to wait.
    pub waited: Duration,
    /// Frames whose contacts were left out.
    pub without_contacts: u64,
}

/// Records a world frame by frame.
pub struct Recorder<R: Real, W: Write + Send + 'static> {
    jobs: Option<SyncSender<Job<R>>>,
    done: Receiver<Job<R>>,
    writer: Option<JoinHandle<Result<(W, Summary), RecordingError>>>,
    when_slow: WhenSlow,
    on_trouble: OnTrouble,
    is_full: Arc<AtomicBool>,
    inputs: Vec<Input>,
    parameters: SimulationParameters,
    topology: u64,
    waited: Duration,
    without_contacts: u64,
}

/// A frame on its way to the writer.
#[derive(Default)]
struct Job<R: Real> {
    number: u64,
    time: f64,
    state_hash: u64,
    positions: Vec<Vector3<R>>,
    contacts: Contacts<R>,
    has_contacts: bool,
    counts: [usize; 2],
    stages: [Duration; Stage::ALL.len()],
    inputs: Vec<Input>,
    topology: Option<Topology>,
    /// Why there is no further frame; this is none then.
    stop: Option<String>,
}

impl Plan {
    /// Whether a world can be recorded like this, as it is now.
    pub fn check<R: Real>(&self, world: &World<R>) -> Result<(), RecordingError> {
        let Storage::Quantised { quantum } = self.storage else { return Ok(()) };
        if !(quantum > 0.0 && quantum.is_finite()) {
            let text = format!("positions cannot be rounded to multiples of {quantum}");
            return Err(RecordingError::Unfit(text));
        }
        let mut numbers = world.motion().positions.iter().flat_map(|place| place.iter());
        if numbers.any(|number| number.to_f64().abs() / quantum >= positions::MOST_MULTIPLES) {
            return Err(RecordingError::Unfit(positions::TOO_FINE.into()));
        }
        Ok(())
    }
}

impl<R: Real, W: Write + Send + 'static> Recorder<R, W> {
    /// Begins a recording with the state of now.
    pub fn new(out: W, world: &World<R>, plan: &Plan) -> Result<Self, RecordingError> {
        plan.check(world)?;
        let precision = if size_of::<R>() == 4 { Precision::F32 } else { Precision::F64 };
        let facts = Facts {
            format: FORMAT.into(),
            program: concat!("defcol ", env!("CARGO_PKG_VERSION")).into(),
            scene: plan.scene.clone(),
            precision,
            positions: plan.storage,
            parameters: world.parameters().clone(),
        };
        let (jobs, todo) = mpsc::sync_channel(plan.queue.max(1));
        let (give_back, done) = mpsc::channel();
        let own = plan.clone();
        let full = Arc::new(AtomicBool::new(false));
        let is_full = full.clone();
        let writer = std::thread::Builder::new().name("recording".into()).spawn(move || {
            let mut file = Scribe::new(out, &facts, own, full)?;
            while let Ok(job) = todo.recv() {
                file.frame(&job)?;
                // Nobody may be left to take it.
                let _ = give_back.send(job);
            }
            file.finish()
        })?;
        let mut recorder = Self {
            jobs: Some(jobs),
            done,
            writer: Some(writer),
            when_slow: plan.when_slow,
            on_trouble: plan.on_trouble.clone(),
            is_full,
            inputs: vec![],
            parameters: world.parameters().clone(),
            topology: world.bodies().topology(),
            waited: Duration::ZERO,
            without_contacts: 0,
        };
        let topology = Some(Topology::of(world));
        recorder.send(Job { topology, ..Job::default() }, world)?;
        Ok(recorder)
    }

    /// Notes what was changed before the next frame. Parameters are noted without this.
    pub fn input(&mut self, input: Input) {
        self.inputs.push(input);
    }

    /// Records the frame that was just simulated.
    pub fn frame(&mut self, world: &World<R>) -> Result<(), RecordingError> {
        self.note_parameters(world);
        let topology = (world.bodies().topology() != self.topology).then(|| Topology::of(world));
        self.topology = world.bodies().topology();
        let mut job = self.done.try_recv().unwrap_or_default();
        job.contacts.copy_from(world.contacts().records());
        job.topology = topology;
        self.send(job, world)
    }

    /// Notes that there is no further frame, and why: `failed: ...`, `interrupted`. What was changed before the frame that
    /// never came is kept.
    pub fn stop(&mut self, world: &World<R>, why: &str) -> Result<(), RecordingError> {
        self.note_parameters(world);
        let inputs = std::mem::take(&mut self.inputs);
        let (number, time) = (world.frame(), world.time());
        self.push(Job { number, time, inputs, stop: Some(why.into()), ..Job::default() })
    }

    fn note_parameters(&mut self, world: &World<R>) {
        if *world.parameters() != self.parameters {
            self.parameters = world.parameters().clone();
            self.inputs.push(Input::Parameters { parameters: self.parameters.clone() });
        }
    }

    fn send(&mut self, mut job: Job<R>, world: &World<R>) -> Result<(), RecordingError> {
        job.number = world.frame();
        job.time = world.time();
        job.state_hash = world.hash();
        job.positions.clone_from(&world.motion().positions);
        job.has_contacts = true;
        let ContactCounts { between_bodies, self_contacts } = world.contact_counts();
        job.counts = [between_bodies, self_contacts];
        job.stages = Stage::ALL.map(|stage| world.clock().of(stage));
        job.inputs = std::mem::take(&mut self.inputs);
        self.push(job)
    }

    fn push(&mut self, job: Job<R>) -> Result<(), RecordingError> {
        let Some(jobs) = &self.jobs else { return Err(self.failure()) };
        let mut job = match jobs.try_send(job) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Full(job)) => job,
            Err(TrySendError::Disconnected(_)) => return Err(self.failure()),
        };
        if self.waited == Duration::ZERO && !self.is_full.load(Ordering::Relaxed) {
            (self.on_trouble)(Trouble::Slow);
        }
        if self.when_slow == WhenSlow::DropContacts && job.has_contacts {
            job.has_contacts = false;
            self.without_contacts += 1;
        }
        let start = Instant::now();
        let sent = jobs.send(job);
        self.waited += start.elapsed().max(Duration::from_nanos(1));
        sent.map_err(|_| self.failure())
    }

    /// Why the writer has ended.
    fn failure(&mut self) -> RecordingError {
        self.jobs = None;
        let ended = self.writer.take().map(JoinHandle::join);
        match ended {
            Some(Ok(Err(error))) => error,
            _ => RecordingError::Io(io::Error::other("the thread that writes has ended")),
        }
    }

    /// Writes what is left and the end.
    pub fn finish(mut self) -> Result<(W, Summary), RecordingError> {
        self.jobs = None;
        let Some(Ok(ended)) = self.writer.take().map(JoinHandle::join) else {
            return Err(self.failure());
        };
        let (out, summary) = ended?;
        let (waited, without_contacts) = (self.waited, self.without_contacts);
        Ok((out, Summary { waited, without_contacts, ..summary }))
    }
}

/// Waits for everything to be written, as far as that is possible.
impl<R: Real, W: Write + Send + 'static> Drop for Recorder<R, W> {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// A chunk is written when it holds this many bytes, even if it has fewer frames.
const LARGE: u64 = 16 << 20;

/// Writes the file.
struct Scribe<W: Write> {
    file: mcap::Writer<NoSeek<BufWriter<Patient<W>>>>,
    channels: [u16; Channel::ALL.len()],
    plan: Plan,
    precision: Precision,
    codec: Codec,
    /// How many times bodies were written down.
    bodies: u32,
    in_chunk: usize,
    bytes_in_chunk: u64,
    /// Of the messages of the frame so far.
    checksum: crc32fast::Hasher,
    chunk_began: Instant,
    buffer: Vec<u8>,
    exact: Vec<Vector3<f64>>,
    kept: Vec<Vector3<f64>>,
    last: u64,
    now: u64,
    frames: u64,
}

impl<W: Write> Scribe<W> {
    fn new(
        out: W,
        facts: &Facts,
        plan: Plan,
        is_full: Arc<AtomicBool>,
    ) -> Result<Self, RecordingError> {
        let on_trouble = plan.on_trouble.clone();
        let patient = Patient { out, written: 0, full_since: None, is_full, on_trouble };
        let mut file = mcap::WriteOptions::new()
            .compression(Some(mcap::Compression::Zstd))
            .compression_level(1)
            .compression_threads(0)
            .profile("defcol")
            .library(facts.program.as_str())
            .chunk_size(None)
            .disable_seeking(true)
            .create(NoSeek::new(BufWriter::new(patient)))
            .map_err(failed)?;
        let text = serde_json::to_vec_pretty(facts).map_err(io::Error::from)?;
        attach(&mut file, "defcol.recording", "application/json", &text)?;
        let mut channels = [0; Channel::ALL.len()];
        for (id, [topic, encoding, schema, schema_encoding, document]) in
            channels.iter_mut().zip(CHANNELS)
        {
            let schema = file.add_schema(schema, schema_encoding, document.as_bytes());
            let schema = schema.map_err(failed)?;
            *id = file.add_channel(schema, topic, encoding, &BTreeMap::new()).map_err(failed)?;
        }
        Ok(Self {
            file,
            channels,
            plan,
            precision: facts.precision,
            codec: Codec::default(),
            bodies: 0,
            in_chunk: 0,
            bytes_in_chunk: 0,
            checksum: crc32fast::Hasher::new(),
            chunk_began: Instant::now(),
            buffer: vec![],
            exact: vec![],
            kept: vec![],
            last: 0,
            now: 0,
            frames: 0,
        })
    }

    fn frame<R: Real>(&mut self, job: &Job<R>) -> Result<(), RecordingError> {
        if let Some(topology) = &job.topology {
            self.end_chunk()?;
            let name = format!("bodies/{}", self.bodies);
            attach(&mut self.file, &name, "application/x-defcol-bodies", &topology.encode())?;
            self.bodies += 1;
        }
        if self.in_chunk == 0 {
            self.codec.restart();
            self.chunk_began = Instant::now();
        }
        self.checksum = crc32fast::Hasher::new();
        self.now = (job.time * 1e9) as u64;
        self.last = job.number;
        let frame = job.number + u64::from(job.stop.is_some());
        for input in &job.inputs {
            self.json(Channel::Inputs, &Timed { frame, input: input.clone() })?;
        }
        if let Some(why) = &job.stop {
            let stopped = Event::Stopped { frame: job.number, why: why.clone() };
            return self.json(Channel::Events, &stopped);
        }
        self.exact.clear();
        self.exact.extend(job.positions.iter().map(|place| place.map(R::to_f64)));
        self.buffer.clear();
        let (precision, storage) = (self.precision, self.plan.storage);
        let (out, kept) = (&mut self.buffer, &mut self.kept);
        let encoded =
            self.codec.encode(&self.exact, self.bodies - 1, precision, storage, out, kept);
        encoded.map_err(RecordingError::Unfit)?;
        self.message(Channel::Positions)?;
        if job.has_contacts {
            self.buffer.clear();
            contacts::encode(&job.contacts, precision, &mut self.buffer);
            self.message(Channel::Contacts)?;
        } else {
            self.json(Channel::Events, &Event::ContactsDropped { frame: job.number })?;
        }
        let stages = Stage::ALL.iter().zip(job.stages);
        let stages: BTreeMap<&str, f64> =
            stages.map(|(stage, time)| (stage.name(), 1e3 * time.as_secs_f64())).collect();
        self.json(Channel::Stages, &stages)?;
        let end = FrameEnd {
            frame: job.number,
            time: job.time,
            state_hash: format!("{:016x}", job.state_hash),
            positions_hash: format!("{:016x}", hash(&self.kept)),
            contacts: job.counts[0],
            self_contacts: job.counts[1],
        };
        self.json(Channel::Frames, &end)?;
        let checksum = self.checksum.clone().finalize();
        self.json(Channel::Events, &Event::Whole { frame: job.number, checksum })?;
        self.frames += 1;
        self.in_chunk += 1;
        if self.bytes_in_chunk >= MOST_IN_CHUNK {
            let text =
                "a frame is larger than a chunk can be; round positions, or take fewer bodies";
            return Err(RecordingError::Unfit(text.into()));
        }
        // The first frame is in the file at once: there is something to open.
        if self.frames == 1
            || self.in_chunk >= self.plan.frames_per_chunk
            || self.bytes_in_chunk >= LARGE
            || self.chunk_began.elapsed() >= self.plan.longest
        {
            self.end_chunk()?;
        }
        Ok(())
    }

    fn end_chunk(&mut self) -> Result<(), RecordingError> {
        (self.in_chunk, self.bytes_in_chunk) = (0, 0);
        self.file.flush().map_err(failed)
    }

    fn json(
        &mut self,
        channel: Channel,
        message: &impl serde::Serialize,
    ) -> Result<(), RecordingError> {
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, message).map_err(io::Error::from)?;
        self.message(channel)
    }

    /// What is in the buffer.
    fn message(&mut self, channel: Channel) -> Result<(), RecordingError> {
        self.checksum.update(&[channel as u8]);
        self.checksum.update(&self.buffer);
        // With the head of the record.
        self.bytes_in_chunk += self.buffer.len() as u64 + 31;
        let header = MessageHeader {
            channel_id: self.channels[channel as usize],
            sequence: self.frames as u32,
            log_time: self.now,
            publish_time: self.now,
        };
        self.file.write_to_known_channel(&header, &self.buffer).map_err(failed)
    }

    /// The end has a chunk of its own: without it nobody could tell that the one before is missing.
    fn finish(mut self) -> Result<(W, Summary), RecordingError> {
        self.end_chunk()?;
        self.json(Channel::Events, &Event::End { frame: self.last })?;
        self.file.finish().map_err(failed)?;
        let patient =
            self.file.into_inner().into_inner().into_inner().map_err(|error| error.into_error())?;
        let summary = Summary { frames: self.frames, bytes: patient.written, ..Summary::default() };
        Ok((patient.out, summary))
    }
}

fn attach<W: Write>(
    file: &mut mcap::Writer<NoSeek<W>>,
    name: &str,
    media: &str,
    data: &[u8],
) -> Result<(), RecordingError> {
    let attachment = mcap::Attachment {
        log_time: 0,
        create_time: 0,
        name: name.into(),
        media_type: media.into(),
        data: Cow::Borrowed(data),
    };
    file.attach(&attachment).map_err(failed)?;
    file.flush().map_err(failed)
}

fn failed(error: mcap::McapError) -> RecordingError {
    match error {
        mcap::McapError::Io(error) if error.get_ref().is_some_and(|inner| inner.is::<GaveUp>()) => {
            RecordingError::Cancelled
        }
        mcap::McapError::Io(error) => RecordingError::Io(error),
        other => RecordingError::Io(io::Error::other(other)),
    }
}

/// Nobody wants to wait for room any longer.
#[derive(Debug, thiserror::Error)]
#[error("the disk is full")]
struct GaveUp;

/// Waits where there is no room.
struct Patient<W> {
    out: W,
    written: u64,
    full_since: Option<Instant>,
    is_full: Arc<AtomicBool>,
    on_trouble: OnTrouble,
}

impl<W: Write> Write for Patient<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.out.write(bytes) {
                Ok(count) => {
                    if self.full_since.take().is_some() {
                        self.is_full.store(false, Ordering::Relaxed);
                        (self.on_trouble)(Trouble::RoomAgain);
                    }
                    self.written += count as u64;
                    return Ok(count);
                }
                Err(error) if is_full(&error) => {
                    let waited = self.full_since.map_or(Duration::ZERO, |since| since.elapsed());
                    self.full_since.get_or_insert_with(Instant::now);
                    self.is_full.store(true, Ordering::Relaxed);
                    if !(self.on_trouble)(Trouble::Full(waited)) {
                        return Err(io::Error::other(GaveUp));
                    }
                    std::thread::sleep(Duration::from_millis(200));
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}
