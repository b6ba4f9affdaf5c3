//! Recordings: what is read is what was written, whatever happened to the file.

use std::io::{self, Cursor, ErrorKind, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use defcol::math::{Real, Vector3};
use defcol::mesh::TetMesh;
use defcol::model::{ConstitutiveLaw, ElasticModuli};
use defcol::response::{Collider, Pressure};
use defcol::world::{BodyKind, BodyOptions, Response, World};
use defcol_recording::{
    Frame, Input, Plan, Precision, Recorder, Recording, RecordingError, Storage, Trouble, WhenSlow,
    difference,
};
use defcol_scenes::catalogue::Scene;
use defcol_scenes::regular::box_grid;

type Opened = Recording<Cursor<Vec<u8>>>;

/// Two small boxes that fall on each other.
fn boxes<R: Real>() -> World<R> {
    let mut world = World::default();
    let mesh = TetMesh::new(box_grid([1, 1, 1], 0.1).cast()).unwrap();
    world.add_collider(Collider::half_space(Vector3::y(), R::zero())).unwrap();
    for height in [0.004, 0.11] {
        let position = Vector3::new(0.3 * height, height, 0.0);
        let options = BodyOptions { position, ..BodyOptions::default() };
        let foam = BodyKind::Elements(ElasticModuli::default(), ConstitutiveLaw::Corotational);
        world.add_solid(&mesh, foam, &options).unwrap();
    }
    world
}

/// A recording of a world, and what it has to give back.
fn record<R: Real>(
    world: &mut World<R>,
    frames: usize,
    plan: &Plan,
    mut change: impl FnMut(&mut World<R>, &mut Recorder<R, Vec<u8>>),
) -> (Vec<u8>, Vec<Kept>) {
    let mut recorder = Recorder::new(vec![], world, plan).unwrap();
    let mut kept = vec![Kept::of(world, false)];
    for _ in 0..frames {
        change(world, &mut recorder);
        world.step().unwrap();
        recorder.frame(world).unwrap();
        kept.push(Kept::of(world, true));
    }
    let (bytes, summary) = recorder.finish().unwrap();
    assert_eq!(summary.bytes, bytes.len() as u64);
    assert_eq!(summary.frames, kept.len() as u64);
    (bytes, kept)
}

#[derive(Debug, Clone, PartialEq)]
struct Kept {
    number: u64,
    time: f64,
    hash: u64,
    positions: Vec<[u64; 3]>,
    contacts: Vec<String>,
}

impl Kept {
    fn of<R: Real>(world: &mut World<R>, stepped: bool) -> Self {
        let positions = world.motion().positions.iter();
        let positions = positions.map(|p| [0, 1, 2].map(|axis| p[axis].to_f64().to_bits()));
        let positions = positions.collect();
        let list = if stepped { world.contacts().records().iter().collect() } else { vec![] };
        let text = |c: &defcol::contact::Contact<R>| {
            let anchors = [&c.first, &c.second].map(|anchor| {
                (anchor.vertices, anchor.weights.map(|weight| weight.to_f64().to_bits()))
            });
            let numbers = c.position.iter().chain(c.direction.iter());
            let numbers = numbers.chain([&c.depth, &c.volume, &c.area, &c.confidence]);
            let numbers: Vec<u64> = numbers.map(|x| x.to_f64().to_bits()).collect();
            format!("{:?} {anchors:?} {numbers:?} {:?}", c.bodies, c.source)
        };
        let contacts = list.iter().map(text).collect();
        Self { number: world.frame(), time: world.time(), hash: world.hash(), positions, contacts }
    }

    fn read(frame: &Frame) -> Self {
        let positions = frame.positions.iter().map(|p| [0, 1, 2].map(|axis| p[axis].to_bits()));
        let contacts = frame.contacts.as_ref().unwrap().iter();
        let text = |c: defcol::contact::Contact<f64>| {
            let anchors = [&c.first, &c.second]
                .map(|anchor| (anchor.vertices, anchor.weights.map(f64::to_bits)));
            let numbers = c.position.iter().chain(c.direction.iter());
            let numbers = numbers.chain([&c.depth, &c.volume, &c.area, &c.confidence]);
            let numbers: Vec<u64> = numbers.map(|x| x.to_bits()).collect();
            format!("{:?} {anchors:?} {numbers:?} {:?}", c.bodies, c.source)
        };
        Self {
            number: frame.number,
            time: frame.time,
            hash: frame.state_hash,
            positions: positions.collect(),
            contacts: contacts.map(text).collect(),
        }
    }
}

fn open(bytes: &[u8]) -> Result<Opened, RecordingError> {
    Recording::new(Cursor::new(bytes.to_vec()))
}

fn short_chunks(frames_per_chunk: usize) -> Plan {
    Plan { frames_per_chunk, longest: Duration::from_secs(1000), ..Plan::default() }
}

fn comes_back<R: Real>(precision: Precision) {
    let mut world = boxes::<R>();
    let (bytes, kept) = record(&mut world, 40, &short_chunks(7), |_, _| {});
    assert!(kept.iter().any(|frame| !frame.contacts.is_empty()));
    let mut recording = open(&bytes).unwrap();
    assert_eq!(recording.facts().precision, precision);
    assert_eq!(recording.loss(), None);
    assert_eq!(recording.frames().collect::<Vec<_>>(), (0..=40).collect::<Vec<_>>());
    for own in &kept {
        assert_eq!(*own, Kept::read(recording.frame(own.number).unwrap()), "{}", own.number);
    }
    // Backwards, and here and there.
    for number in (0..=40).rev().chain([3, 39, 0, 20, 21, 20, 6, 7]) {
        let frame = recording.frame(number).unwrap();
        assert_eq!(kept[number as usize], Kept::read(frame), "{number}");
    }
    assert!(matches!(recording.frame(41), Err(RecordingError::NoSuchFrame { .. })));
}

#[test]
fn every_frame_comes_back_bit_by_bit_in_any_order() {
    comes_back::<f32>(Precision::F32);
    comes_back::<f64>(Precision::F64);
}

#[test]
fn volumes_are_contacts_like_all_others() {
    let pressure = Pressure { stiffness: 1e6, viscosity: 50.0 };
    for response in
        [Response::Volume { resolution: 16 }, Response::Pressure { pressure, resolution: 16 }]
    {
        let mut world = boxes::<f64>();
        let parameters = world.parameters().clone();
        world
            .set_parameters(defcol::world::SimulationParameters { response, ..parameters })
            .unwrap();
        let (bytes, kept) = record(&mut world, 30, &Plan::default(), |_, _| {});
        assert!(kept.iter().any(|frame| frame.contacts.iter().any(|c| c.ends_with("Volume"))));
        let mut recording = open(&bytes).unwrap();
        for own in &kept {
            assert_eq!(*own, Kept::read(recording.frame(own.number).unwrap()));
        }
    }
}

#[test]
fn recording_changes_nothing_whatever_the_number_of_threads() {
    let run = |threads: usize, recorded: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut scene = Scene::<f64>::build("arm", 0).unwrap();
            let mut recorder = Recorder::new(vec![], &scene.world, &Plan::default()).unwrap();
            let mut hashes = vec![];
            for _ in 0..30 {
                scene.step().unwrap();
                if recorded {
                    recorder.frame(&scene.world).unwrap();
                }
                hashes.push(scene.world.hash());
            }
            (hashes, recorder.finish().unwrap().0)
        })
    };
    let (alone, _) = run(1, false);
    let (hashes, bytes) = run(1, true);
    assert_eq!(alone, hashes);
    let mut first = open(&bytes).unwrap();
    let linear: Vec<Frame> = (0..=30).map(|number| first.frame(number).unwrap().clone()).collect();
    for threads in [2, 4] {
        let (hashes, bytes) = run(threads, true);
        assert_eq!(alone, hashes, "{threads} threads");
        let mut other = open(&bytes).unwrap();
        for number in (0..=30).rev() {
            let (own, found) = (&linear[number as usize], other.frame(number).unwrap());
            assert_eq!(own.positions, found.positions);
            assert_eq!(own.contacts, found.contacts);
            assert_eq!(own.state_hash, found.state_hash);
        }
        assert_eq!(difference(&mut first, &mut other, |_| true).unwrap(), None);
    }
}

#[test]
fn inputs_and_bodies_that_come_and_go_are_kept() {
    let change = |world: &mut World<f64>, frame: u64| -> Vec<Input> {
        match frame {
            3 => {
                let mut parameters = world.parameters().clone();
                (parameters.substeps, parameters.gravity.x) = (5, 0.1 + 0.2);
                vec![Input::Parameters { parameters }]
            }
            5 => {
                let linear = Vector3::new(0.0, 1.0 / 3.0, 0.0);
                let body = world.body_ids().next().unwrap().number();
                vec![
                    Input::Velocity { body, linear, angular: Vector3::zeros() },
                    Input::Fixed { body, vertices: vec![0, 3], fixed: true },
                ]
            }
            _ => vec![],
        }
    };
    let mut world = boxes::<f64>();
    let (bytes, kept) = record(&mut world, 12, &short_chunks(4), |world, recorder| {
        for input in change(world, world.frame()) {
            input.apply(world).unwrap();
            // Parameters are noticed by themselves.
            if !matches!(input, Input::Parameters { .. }) {
                recorder.input(input);
            }
        }
        if world.frame() == 8 {
            let second = world.body_ids().nth(1).unwrap();
            world.remove_body(second).unwrap();
        }
    });
    let mut recording = open(&bytes).unwrap();
    let mut again = boxes::<f64>();
    for own in &kept {
        let frame = recording.frame(own.number).unwrap();
        assert_eq!(*own, Kept::read(frame));
        assert_eq!(frame.bodies.bodies.len(), if own.number < 9 { 2 } else { 1 });
        if own.number == 0 || own.number >= 9 {
            continue;
        }
        assert_eq!(
            frame.inputs.len(),
            [0, 1, 2][usize::from(own.number == 4) + 2 * usize::from(own.number == 6)]
        );
        frame.inputs.iter().for_each(|input| input.apply(&mut again).unwrap());
        again.step().unwrap();
        assert_eq!(again.hash(), frame.state_hash, "{}", own.number);
    }
    // There and back again from one body to two.
    assert_eq!(Kept::read(recording.frame(12).unwrap()), kept[12]);
    assert_eq!(Kept::read(recording.frame(2).unwrap()), kept[2]);
}

#[test]
fn quantised_positions_are_near_and_said_to_be() {
    let plan = Plan { storage: Storage::Quantised { quantum: 1e-3 }, ..short_chunks(5) };
    let mut world = boxes::<f64>();
    let (bytes, kept) = record(&mut world, 20, &plan, |_, _| {});
    let (exact, _) = record(&mut boxes::<f64>(), 20, &short_chunks(5), |_, _| {});
    assert!(bytes.len() < exact.len());
    let mut recording = open(&bytes).unwrap();
    assert_eq!(recording.facts().positions, plan.storage);
    for own in kept {
        let frame = recording.frame(own.number).unwrap();
        assert_eq!(frame.state_hash, own.hash);
        for (bits, place) in own.positions.iter().zip(&frame.positions) {
            assert!((Vector3::from(bits.map(f64::from_bits)) - place).amax() <= 0.50001e-3);
        }
    }
    for quantum in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let plan = Plan { storage: Storage::Quantised { quantum }, ..Plan::default() };
        assert!(Recorder::new(vec![], &world, &plan).is_err());
    }
}

/// What a damaged file gives back must be right, and what it does not must be told.
fn is_honest(bytes: &[u8], kept: &[Kept], what: &str) {
    let Ok(mut recording) = open(bytes) else { return };
    let mut told = recording.loss().is_some();
    let numbers: Vec<u64> = recording.frames().collect();
    assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{what}");
    for &number in &numbers {
        match recording.frame(number) {
            Ok(frame) => assert_eq!(kept[number as usize], Kept::read(frame), "{what}"),
            Err(_) => told = true,
        }
    }
    assert!(told || numbers.len() == kept.len(), "{what}: {} frames", numbers.len());
}

fn small() -> (Vec<u8>, Vec<Kept>) {
    record(&mut boxes::<f32>(), 6, &short_chunks(2), |world, _| {
        if world.frame() == 4 {
            let parameters = world.parameters().clone();
            let changed = defcol::world::SimulationParameters { substeps: 4, ..parameters };
            world.set_parameters(changed).unwrap();
        }
    })
}

#[test]
fn a_file_that_is_cut_off_anywhere_gives_its_whole_frames() {
    let (bytes, kept) = small();
    let mut most = 0;
    for length in 0..bytes.len() {
        is_honest(&bytes[..length], &kept, &format!("cut to {length}"));
        if let Ok(recording) = open(&bytes[..length]) {
            // More of the file is never less of the recording.
            assert!(recording.frame_count() >= most);
            most = recording.frame_count();
        } else {
            assert_eq!(most, 0, "cut to {length}");
        }
    }
    assert_eq!(most, kept.len());
}

#[test]
fn frames_of_a_chunk_that_is_cut_off_or_damaged_are_kept_up_to_the_fault() {
    let mut scene = Scene::<f64>::build("box", 0).unwrap();
    let (bytes, kept) = record(&mut scene.world, 30, &short_chunks(30), |_, _| {});
    let mut seen = std::collections::BTreeSet::new();
    for cut in (bytes.len() / 10..bytes.len()).step_by(bytes.len() / 40) {
        is_honest(&bytes[..cut], &kept, &format!("cut to {cut}"));
        seen.extend(open(&bytes[..cut]).map(|recording| recording.frame_count()));
        let mut flipped = bytes.clone();
        flipped[cut] ^= 0x10;
        is_honest(&flipped, &kept, &format!("byte {cut}"));
    }
    // The first frame has a chunk of its own, and all others share one.
    assert!(seen.iter().filter(|count| (2..30).contains(*count)).count() > 4, "{seen:?}");
}

/// Flips every `step`-th bit of a small file; 7 meets each bit of a byte.
fn flip_bits(step: usize) {
    let (mut bytes, kept) = small();
    assert!(bytes.len() < 40_000, "{}", bytes.len());
    for bit in (0..8 * bytes.len()).step_by(step) {
        bytes[bit / 8] ^= 1 << (bit % 8);
        is_honest(&bytes, &kept, &format!("bit {} of byte {}", bit % 8, bit / 8));
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn a_file_with_any_bit_flipped_gives_right_frames_or_none() {
    flip_bits(7);
}

#[test]
#[ignore = "slow in the dev profile; run it with `cargo xtask long bit-flips`"]
fn a_file_with_each_of_its_bits_flipped_gives_right_frames_or_none() {
    flip_bits(1);
}

#[test]
fn files_of_others_and_of_later_programs_are_refused() {
    for bytes in [&b""[..], b"solid", &[0; 100]] {
        assert!(matches!(open(bytes), Err(RecordingError::Foreign(_))));
    }
    let attached = |name: &str, text: &str| {
        let mut file = mcap::Writer::new(Cursor::new(vec![])).unwrap();
        let attachment = mcap::Attachment {
            log_time: 0,
            create_time: 0,
            name: name.into(),
            media_type: "application/json".into(),
            data: text.as_bytes().into(),
        };
        file.attach(&attachment).unwrap();
        file.finish().unwrap();
        file.into_inner().into_inner()
    };
    let later = open(&attached("defcol.recording", r#"{"format": "defcol.recording/2"}"#));
    let text = later.unwrap_err().to_string();
    assert!(text.contains("defcol.recording/2") && text.contains("newer"), "{text}");
    assert!(matches!(open(&attached("map", "{}")), Err(RecordingError::Foreign(_))));
    // Earlier formats are read; what they do not know is as it is by default.
    let mut facts: serde_json::Value = serde_json::from_slice(&facts_of(&small().0)).unwrap();
    facts["format"] = "defcol.recording/0".into();
    facts["parameters"].as_object_mut().unwrap().remove("air");
    facts["parameters"]["contact"].as_object_mut().unwrap().remove("recovery");
    let earlier = open(&attached("defcol.recording", &facts.to_string()));
    let text = earlier.unwrap_err().to_string();
    assert!(text.contains("there is no frame") || text.contains("chunk is missing"), "{text}");
    facts["parameters"].as_object_mut().unwrap().insert("frame".into(), "x".into());
    let wrong = open(&attached("defcol.recording", &facts.to_string()));
    assert!(matches!(wrong, Err(RecordingError::Foreign(_))));
}

/// The facts that are attached to a recording.
fn facts_of(bytes: &[u8]) -> Vec<u8> {
    let summary = mcap::Summary::read(bytes).unwrap().unwrap();
    let index = &summary.attachment_indexes[0];
    mcap::read::attachment(bytes, index).unwrap().data.into_owned()
}

#[test]
fn a_run_that_fails_says_so_and_keeps_what_broke_it() {
    let mut world = boxes::<f64>();
    let mut recorder = Recorder::new(vec![], &world, &Plan::default()).unwrap();
    world.step().unwrap();
    recorder.frame(&world).unwrap();
    let parameters = world.parameters().clone();
    world
        .set_parameters(defcol::world::SimulationParameters { substeps: 2, ..parameters })
        .unwrap();
    let input = Input::Fixed { body: 0, vertices: vec![1], fixed: true };
    recorder.input(input.clone());
    recorder.stop(&world, "failed: for a test").unwrap();
    let recording = open(&recorder.finish().unwrap().0).unwrap();
    assert_eq!((recording.loss(), recording.last_frame()), (None, 1));
    let stop = recording.stop().unwrap();
    assert_eq!((stop.frame, stop.why.as_str()), (1, "failed: for a test"));
    assert_eq!(stop.inputs.len(), 2);
    assert_eq!(stop.inputs[0], input);
}

#[test]
fn a_file_of_the_first_version_opens_for_ever() {
    let bytes = include_bytes!("first.mcap");
    let mut recording = open(bytes).unwrap();
    assert_eq!(recording.loss(), None);
    assert_eq!(recording.facts().format, "defcol.recording/1");
    assert_eq!(recording.frame_count(), 7);
    let last = recording.frame(6).unwrap();
    assert_eq!(last.bodies.bodies.len(), 2);
    assert_eq!(last.bodies.bodies[1].triangles.len(), 12);
    assert!(!last.contacts.as_ref().unwrap().is_empty());
    assert!(last.stages.contains_key("detect"));
    assert_eq!(recording.frame(5).unwrap().inputs.len(), 1);
}

#[test]
#[ignore = "writes the file that the test above reads; for a new version only"]
fn write_the_file_of_this_version() {
    let (bytes, _) = small();
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/first.mcap"), bytes).unwrap();
}

#[test]
fn others_read_it_as_mcap() {
    let (bytes, kept) = small();
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for message in mcap::MessageStream::new(&bytes).unwrap() {
        let message = message.unwrap();
        let schema = message.channel.schema.as_ref().unwrap();
        assert!(schema.name.starts_with("defcol.") && !schema.data.is_empty());
        if message.channel.message_encoding == "json" {
            assert_eq!(schema.encoding, "jsonschema");
            serde_json::from_slice::<serde_json::Value>(&schema.data).unwrap();
            serde_json::from_slice::<serde_json::Value>(&message.data).unwrap();
        }
        *counts.entry(message.channel.topic.clone()).or_default() += 1;
    }
    let expected = [
        ("contacts", 7),
        ("events", 8),
        ("frames", 7),
        ("inputs", 1),
        ("positions", 7),
        ("stages", 7),
    ];
    assert!(counts.iter().map(|(k, v)| (k.as_str(), *v)).eq(expected), "{counts:?}");
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    assert_eq!(summary.attachment_indexes.len(), 2);
    // One for schemas, one for the first frame, and one for the end.
    assert_eq!(summary.chunk_indexes.len(), 1 + 1 + (kept.len() - 1).div_ceil(2) + 1);
    assert_eq!(summary.stats.unwrap().message_count, 37);
}

/// A disk that is slow, or full for a while.
struct Disk {
    bytes: Vec<u8>,
    pause: Duration,
    full: Arc<AtomicUsize>,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() > 6000 && self.full.load(Ordering::Relaxed) > 0 {
            self.full.fetch_sub(1, Ordering::Relaxed);
            return Err(io::Error::new(ErrorKind::StorageFull, "no space left on device"));
        }
        std::thread::sleep(self.pause);
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn on_disk(
    plan: &Plan,
    pause: Duration,
    full: usize,
) -> (Result<Disk, RecordingError>, Vec<Trouble>, u64) {
    let troubles = Arc::new(Mutex::new(vec![]));
    let heard = troubles.clone();
    let answer = plan.on_trouble.clone();
    let plan = Plan {
        on_trouble: Arc::new(move |trouble| {
            heard.lock().unwrap().push(trouble);
            answer(trouble)
        }),
        ..plan.clone()
    };
    let disk = Disk { bytes: vec![], pause, full: Arc::new(AtomicUsize::new(full)) };
    let mut world = boxes::<f64>();
    let mut recorder = Recorder::new(disk, &world, &plan).unwrap();
    let mut dropped = 0;
    let run = || -> Result<Disk, RecordingError> {
        for _ in 0..40 {
            world.step().unwrap();
            recorder.frame(&world)?;
        }
        let (disk, summary) = recorder.finish()?;
        dropped = summary.without_contacts;
        Ok(disk)
    };
    let done = run();
    let troubles = troubles.lock().unwrap().clone();
    (done, troubles, dropped)
}

#[test]
fn a_slow_disk_makes_the_run_wait_or_costs_contacts_but_no_state() {
    let (_, kept) = record(&mut boxes::<f64>(), 40, &Plan::default(), |_, _| {});
    for when_slow in [WhenSlow::Wait, WhenSlow::DropContacts] {
        let plan = Plan { when_slow, queue: 1, ..short_chunks(1) };
        let (disk, troubles, dropped) = on_disk(&plan, Duration::from_millis(4), 0);
        assert_eq!(troubles, [Trouble::Slow]);
        let mut recording = open(&disk.unwrap().bytes).unwrap();
        assert_eq!(recording.loss(), None);
        let mut without = 0;
        for own in &kept {
            let frame = recording.frame(own.number).unwrap();
            assert_eq!(frame.state_hash, own.hash);
            without += u64::from(frame.contacts.is_none());
        }
        assert_eq!(without, dropped);
        assert_eq!(dropped > 0, when_slow == WhenSlow::DropContacts);
    }
}

#[test]
fn a_full_disk_is_waited_for_or_given_up_and_what_is_there_stays() {
    let plan = short_chunks(3);
    let (disk, troubles, _) = on_disk(&plan, Duration::ZERO, 2);
    // The simulation thread may report a slow disk in between.
    let of_the_disk = |troubles: Vec<Trouble>| -> Vec<Trouble> {
        troubles.into_iter().filter(|trouble| *trouble != Trouble::Slow).collect()
    };
    let troubles = of_the_disk(troubles);
    assert!(matches!(troubles[0], Trouble::Full(_)));
    assert_eq!(troubles.last(), Some(&Trouble::RoomAgain));
    let recording = open(&disk.unwrap().bytes).unwrap();
    assert_eq!((recording.frame_count(), recording.loss()), (41, None));
    let plan = Plan { on_trouble: Arc::new(|_| false), ..plan };
    let (disk, troubles, _) = on_disk(&plan, Duration::ZERO, usize::MAX);
    assert!(matches!(of_the_disk(troubles)[0], Trouble::Full(_)));
    assert!(matches!(disk, Err(RecordingError::Cancelled)));
}

#[test]
fn differences_are_found_where_they_begin() {
    let (bytes, _) = record(&mut boxes::<f64>(), 12, &short_chunks(5), |_, _| {});
    let (other, _) = record(&mut boxes::<f64>(), 12, &short_chunks(3), |world, _| {
        if world.frame() == 7 {
            let second = world.body_ids().nth(1).unwrap();
            world.set_velocity(second, Vector3::new(0.06, 0.0, 0.0), Vector3::zeros()).unwrap();
        }
    });
    let (mut a, mut b) = (open(&bytes).unwrap(), open(&other).unwrap());
    let found = difference(&mut a, &mut b, |_| true).unwrap().unwrap();
    assert_eq!(found.frame, 8);
    let vertex = found.vertex.unwrap();
    assert_eq!((vertex.vertex, found.farthest.unwrap().body), (0, 1));
    let by = found.farthest.unwrap().by;
    assert!(by > 1e-4 && by < 0.1, "{by}");
    assert!(found.vertices >= 8);
    assert!(found.state && !found.bodies && found.farthest.unwrap().by >= vertex.by);
    // One is longer.
    let (longer, _) = record(&mut boxes::<f64>(), 14, &short_chunks(5), |_, _| {});
    let mut longer = open(&longer).unwrap();
    let found = difference(&mut a, &mut longer, |_| true).unwrap().unwrap();
    assert_eq!((found.frame, found.only_in), (13, Some("b")));
    assert!(matches!(difference(&mut a, &mut longer, |n| n < 5), Err(RecordingError::Cancelled)));
}
