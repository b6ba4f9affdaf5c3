//! What can be said on the command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Where deforming objects collide, how deep, how much, and what resolves it.
#[derive(Parser)]
#[command(name = "defcol", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 done; 1 collisions found (collide only); 2 wrong usage; \
    3 bad input; 4 the computation failed; 130 interrupted.\n\n\
    Try: defcol inspect --example")]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// What every command takes.
#[derive(Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// How results are printed
    #[arg(long, global = true, value_enum, default_value_t = OutputFormat::Table)]
    pub format: OutputFormat,
    /// Number of threads [default: all cores]
    #[arg(long, global = true, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// No progress bars, no notes
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Colours in messages; NO_COLOR is honoured
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum OutputFormat {
    /// For people
    Table,
    /// For programs
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Color {
    /// Where a terminal shows them
    Auto,
    Always,
    Never,
}

impl Color {
    pub fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

#[derive(Subcommand)]
pub enum Command {
    Inspect(InspectOptions),
    Convert(ConvertOptions),
    Tetrahedralize(TetrahedralizeOptions),
    Collide(CollideOptions),
    Depth(DepthOptions),
    Volume(VolumeOptions),
    Contains(ContainsOptions),
    /// List the scenes that can be run
    #[command(after_help = "Example:\n  defcol scenes --format json")]
    Scenes,
    Run(RunOptions),
    Replay(ReplayOptions),
    Diff(DiffOptions),
    Suite(SuiteOptions),
    Bench(BenchOptions),
    Picture(PictureOptions),
    Completions(CompletionsOptions),
}

/// Tell facts and defects of meshes
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol inspect --example             six built-in meshes, sound and broken\n  \
    defcol inspect liver.msh tool.stl    two files side by side\n  \
    defcol inspect --format json a.obj   for programs\n  \
    curl ... | defcol inspect - --from ply\n\n\
    Indices in messages count from 0.")]
pub struct InspectOptions {
    /// Mesh files, their format told by the ending; `-` is standard input
    #[arg(value_name = "MESH", required_unless_present = "example")]
    pub meshes: Vec<PathBuf>,
    /// Inspect built-in meshes
    #[arg(long, conflicts_with = "meshes")]
    pub example: bool,
    /// The format of standard input, as a file ending
    #[arg(long, value_name = "ENDING")]
    pub from: Option<String>,
}

/// Convert between mesh formats, told by the endings
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol convert scan.ply scan.glb\n  \
    defcol convert heart.msh heart.vtu --encoding ascii\n  \
    defcol convert soup.obj whole.ply --repair weld,degenerate,orientation\n  \
    defcol convert - out.stl --from off < in.off\n\n\
    An existing OUT is replaced when the new file is complete, and kept if anything fails.")]
pub struct ConvertOptions {
    /// The file to read; `-` is standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The file to write; `-` is standard output
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// The format of standard input, as a file ending
    #[arg(long, value_name = "ENDING")]
    pub from: Option<String>,
    /// The format of standard output, as a file ending
    #[arg(long, value_name = "ENDING")]
    pub to: Option<String>,
    /// How numbers are stored, where the format leaves the choice [default: binary, but ascii for OFF]
    #[arg(long, value_enum)]
    pub encoding: Option<EncodingChoice>,
    /// The version of .msh files
    #[arg(long, value_enum, default_value_t = GmshChoice::V4, value_name = "VERSION")]
    pub gmsh: GmshChoice,
    /// Steps of repair, taken in this order whatever the order given
    #[arg(long, value_enum, value_delimiter = ',', value_name = "STEP,...")]
    pub repair: Vec<RepairStep>,
    /// With `weld`: merge vertices no farther apart than this [default: 0, the very same place]
    #[arg(long, value_name = "DISTANCE", value_parser = distance)]
    pub weld_tolerance: Option<f64>,
}

/// Three finite numbers between commas.
fn point(text: &str) -> Result<[f64; 3], String> {
    let numbers: Vec<f64> = text.split(',').filter_map(|word| word.trim().parse().ok()).collect();
    match numbers[..] {
        [x, y, z] if [x, y, z].iter().all(|value| value.is_finite()) => Ok([x, y, z]),
        _ => Err("not a point: give three numbers between commas, like 3,-4,2.5".into()),
    }
}

/// A number above 0 and not above 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err("not a share: give a number above 0 and not above 1, like 0.01".into()),
    }
}

/// A finite number above 0.
fn stiffness(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("not a stiffness: give a finite number above 0".into()),
    }
}

/// A finite number that is not negative.
fn distance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("not a distance: give a finite number that is not negative".into()),
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum EncodingChoice {
    Binary,
    /// Big-endian binary, for PLY
    BigEndian,
    /// Text, with the shortest decimals that read back as the same number
    Ascii,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum GmshChoice {
    #[value(name = "2.2")]
    V2,
    #[value(name = "4.1")]
    V4,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum RepairStep {
    /// Merge vertices at the same place
    Weld,
    /// Drop primitives that name a vertex twice, and copies
    Degenerate,
    /// Turn triangles until neighbours agree and closed surfaces face outwards
    Orientation,
    /// Turn tetrahedra with negative volume
    Inverted,
    /// All of these
    All,
}

/// Fill a closed surface with tetrahedra
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol tetrahedralize liver.stl liver.msh\n  \
    defcol tetrahedralize liver.stl liver.vtu --cells 20000 --embedding liver.csv\n  \
    defcol tetrahedralize model:cow cow.mesh --cells 969\n\n\
    The surface must be closed and oriented (defcol inspect tells); the result is coarser inside than at \
    the surface, with dihedral angles between 10.7 and 164.8 degrees.")]
pub struct TetrahedralizeOptions {
    /// The closed surface; `model:NAME[:TRIANGLES]` is a built-in one
    #[arg(value_name = "SURFACE")]
    pub surface: PathBuf,
    /// The file to write: .msh, .mesh, .meshb, .vtu, .node or .ele
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Number of tetrahedra, met within 10 %
    #[arg(long, value_name = "N", default_value = "5000", value_parser = clap::value_parser!(u32).range(1..=5_000_000))]
    pub cells: u32,
    /// Also write how the surface hangs on the tetrahedra: for each vertex a tetrahedron and four weights
    #[arg(long, value_name = "FILE.csv")]
    pub embedding: Option<PathBuf>,
    /// Tetrahedra of one size throughout
    #[arg(long)]
    pub uniform: bool,
}

/// Find collisions between meshes, and of a mesh with itself
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol collide liver.msh tool.stl\n  \
    defcol collide --self rod.vtu\n  \
    defcol collide a.ply b.ply c.ply --format json | jq .colliding\n  \
    defcol collide model:mouse model:worn-hat\n  \
    defcol collide model:mouse model:worn-hat --method ldi --out overlap.ply\n  \
    defcol collide hero.glb monster.glb --method bvh --weights 0.3,0.2\n\n\
    Exit code 1 means that collisions were found. Between surfaces, pairs of intersecting triangles are \
    counted (of one surface those that share no vertex); where a mesh has tetrahedra, pairs of a vertex \
    and a tetrahedron that contains it. Touching counts. A surface wholly inside another meets no triangle \
    of it and is found by ldi only.\n\n\
    With bvh, triangles of one surface that share a vertex and meet beyond it are counted too, apart from the \
    others (`sharing`). The weights of morph targets are none negative, with a sum of 1 at the most.\n\n\
    With ldi, closed surfaces overlap or do not: the volume they have in common is measured along three \
    axes, and the vertices of each inside the other are counted exactly.")]
pub struct CollideOptions {
    /// Mesh files; `model:NAME[:TRIANGLES]` is a built-in model, `-` standard input
    #[arg(value_name = "MESH", required = true)]
    pub meshes: Vec<PathBuf>,
    /// How to look for collisions; all methods that count primitives give the same number of them
    #[arg(long, value_enum, default_value_t = Method::Hash)]
    pub method: Method,
    /// With ldi: pixels along a side of the raster
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = resolution())]
    pub resolution: u32,
    /// With ldi: write the overlaps as a coloured PLY file
    #[arg(long, value_name = "OVERLAP.ply")]
    pub out: Option<PathBuf>,
    /// With bvh: weights of the morph targets of a mesh; once for each mesh that has some, in their order
    #[arg(long, value_name = "W,W,...", value_parser = weights, allow_hyphen_values = true)]
    pub weights: Vec<Weights>,
    /// With bvh: put meshes with joints into the pose of their joints in the file
    #[arg(long)]
    pub posed: bool,
    /// Also find collisions of each mesh with itself
    #[arg(long = "self")]
    pub with_itself: bool,
    /// The format of standard input, as a file ending
    #[arg(long, value_name = "ENDING")]
    pub from: Option<String>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Method {
    /// Spatial hashing: linear time
    Hash,
    /// Everything against everything: slow, the reference
    Brute,
    /// Layered depth images: volumes of overlaps of closed surfaces
    Ldi,
    /// Trees of bounding volumes, which follow morph targets and joints
    Bvh,
}

impl From<Method> for defcol_query::CollideMethod {
    fn from(choice: Method) -> Self {
        match choice {
            Method::Hash => Self::Hash,
            Method::Brute => Self::Brute,
            Method::Ldi => Self::Ldi,
            Method::Bvh => Self::Bvh,
        }
    }
}

/// The weights of the morph targets of a mesh.
#[derive(Clone)]
pub struct Weights(pub Vec<f64>);

fn weights(text: &str) -> Result<Weights, String> {
    let number =
        |word: &str| word.trim().parse::<f64>().map_err(|_| format!("{word:?} is not a number"));
    text.split(',').map(number).collect::<Result<_, _>>().map(Weights)
}

/// A resolution that a raster may have.
fn resolution() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(2..=i64::from(defcol::detect::ldi::MAX_RESOLUTION))
}

/// What is made of a surface with open edges
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum OpenChoice {
    /// It is an error
    Refuse,
    /// It bounds the endless volume behind it, like a ground or a bag
    HalfInfinite,
    /// Rays that do not leave it as often as they enter it are left out and counted
    Measure,
}

impl From<OpenChoice> for defcol_query::OpenSurface {
    fn from(choice: OpenChoice) -> Self {
        match choice {
            OpenChoice::Refuse => Self::Refuse,
            OpenChoice::HalfInfinite => Self::HalfInfinite,
            OpenChoice::Measure => Self::Measure,
        }
    }
}

/// Tell how deep the points of two bodies are in each other, and which way leads out
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol depth liver.msh tool.stl\n  \
    defcol depth model:mouse model:worn-hat --out depths.csv\n  \
    defcol depth model:mouse model:worn-hat --out depths.ply      coloured by depth\n  \
    defcol depth a.msh b.msh --method nearest --format json\n\n\
    consistent: only points with a neighbour outside ask the surface, where their edges leave it; all others get their \
    depth from their neighbours, so that no two push against each other. nearest: the exact distance of each point from \
    the surface. Where a mesh has tetrahedra, its inner points count too. Points that are enclosed on all sides have no \
    consistent depth: --way-out gives all of them the same way out.")]
pub struct DepthOptions {
    /// The first mesh; `model:NAME[:TRIANGLES]` is a built-in model
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// The second mesh
    #[arg(value_name = "B")]
    pub second: PathBuf,
    /// How depths are found
    #[arg(long, value_enum, default_value_t = DepthMethod::Consistent)]
    pub method: DepthMethod,
    /// Write all contacts as a table (.csv), or the surfaces coloured by depth (.ply)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// With consistent: blend the normals of the corners, for smooth surfaces of coarse bodies
    #[arg(long)]
    pub smooth: bool,
    /// With consistent: give points that are enclosed the nearest way out
    #[arg(long)]
    pub way_out: bool,
    /// Also find edges that go through the other body without an end in it
    #[arg(long)]
    pub edges: bool,
    /// Also find the depths of each mesh in itself (consistent only)
    #[arg(long = "self")]
    pub with_itself: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum DepthMethod {
    /// From the border inwards
    Consistent,
    /// The nearest point of the surface
    Nearest,
}

impl From<DepthMethod> for defcol_query::DepthMethod {
    fn from(choice: DepthMethod) -> Self {
        match choice {
            DepthMethod::Consistent => Self::Consistent,
            DepthMethod::Nearest => Self::Nearest,
        }
    }
}

/// Measure the volume that two closed surfaces have in common
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol volume liver.stl tool.stl\n  \
    defcol volume model:mouse model:worn-hat --resolution 64 --out overlap.ply\n  \
    defcol volume body.ply ground.obj --open half-infinite\n  \
    defcol volume liver.msh tool.stl --gradient gradient.csv --pressure pressure.ply\n\n\
    Rays run through the common box along all three axes; the volume is the mean of the three, with an error \
    estimated from how much neighbouring rays and the three directions differ. Where a mesh has \
    tetrahedra, its surface is taken.")]
pub struct VolumeOptions {
    /// The first mesh; `model:NAME[:TRIANGLES]` is a built-in model
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// The second mesh
    #[arg(value_name = "B")]
    pub second: PathBuf,
    /// Pixels along a side of the raster [default: until the tolerance is met]
    #[arg(long, value_name = "N", value_parser = resolution(), conflicts_with = "tolerance")]
    pub resolution: Option<u32>,
    /// Refine until the error is at most this share of the volume [default: 0.01]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub tolerance: Option<f64>,
    /// Write the overlap as a PLY file, each connected region in its own colour
    #[arg(long, value_name = "OVERLAP.ply")]
    pub out: Option<PathBuf>,
    /// Write how the volume grows with each vertex: its gradient, its share of the volume and its pressure
    #[arg(long, value_name = "OUT.csv")]
    pub gradient: Option<PathBuf>,
    /// Write the surfaces as a PLY file, coloured by pressure
    #[arg(long, value_name = "PRESSURE.ply")]
    pub pressure: Option<PathBuf>,
    /// With --gradient and --pressure: the stiffness that makes a pressure of the volume
    #[arg(long, value_name = "K", default_value_t = 1.0, value_parser = stiffness)]
    pub stiffness: f64,
    /// What surfaces with open edges mean
    #[arg(long, value_enum, default_value_t = OpenChoice::Refuse, value_name = "MEANING")]
    pub open: OpenChoice,
}

/// Tell which points are inside a closed surface
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol contains liver.stl particles.xyz --out inside.csv\n  \
    defcol contains model:dragon:150000 model:knot       the vertices of one in the other\n  \
    defcol contains scan.ply points.npy --method ldi --resolution 64\n\n\
    A point is inside where the surface winds around it, and on the surface. `exact` has no error. `ldi` asks \
    the ray through the middle of a pixel; points nearer to the surface than that can tell are counted as \
    uncertain.")]
pub struct ContainsOptions {
    /// The closed surface; `model:NAME[:TRIANGLES]` is a built-in model
    #[arg(value_name = "MESH")]
    pub mesh: PathBuf,
    /// Points: .xyz, .txt, .csv, .npy, or the vertices of a mesh
    #[arg(value_name = "POINTS")]
    pub points: PathBuf,
    /// How to find out
    #[arg(long, value_enum, default_value_t = ContainsMethod::Exact)]
    pub method: ContainsMethod,
    /// With ldi: pixels along a side of the raster
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = resolution())]
    pub resolution: u32,
    /// Write x, y, z and 0 or 1 for each point
    #[arg(long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum ContainsMethod {
    /// Without error
    Exact,
    /// A layered depth image along the shortest axis
    Ldi,
}

impl From<ContainsMethod> for defcol_query::ContainsMethod {
    fn from(choice: ContainsMethod) -> Self {
        match choice {
            ContainsMethod::Exact => Self::Exact,
            ContainsMethod::Ldi => Self::Ldi,
        }
    }
}

/// Run the papers' experiments and write a report with our figures beside theirs
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol suite hashing-parameters      THESIS figures 4.5 and 4.6, about a minute\n  \
    defcol suite consistent-depth        THESIS figure 6.9 and 6.2.1, a few seconds\n  \
    defcol suite volume-forces           FAURE08 figure 6, a few seconds\n  \
    defcol suite integrators             when each integrator is stable\n  \
    defcol suite --quick --out report    all experiments, small\n\n\
    The folder gets report.html with curves and report.json with every point.")]
pub struct SuiteOptions {
    /// Experiments [default: all]: hashing-parameters, morphing, consistent-depth, volume-forces
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// The folder for the report
    #[arg(long, value_name = "DIR", default_value = "suite")]
    pub out: PathBuf,
    /// Small sizes, few points
    #[arg(long)]
    pub quick: bool,
}

/// Simulate a scene: bodies that fall, touch and come to rest
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol run balls --picture balls.png             a heap of soft balls\n  \
    defcol run rods --frames 600 --precision f32\n  \
    defcol run box --integrator implicit --response pressure\n  \
    defcol run beam --integrator rk4 --substeps 40 --format json\n  \
    defcol run rods --record rods.mcap --movie rods.gif\n\n\
    The same scene, seed and options give the same state hash for any number of threads. A simulation that diverges \
    ends with exit code 4 and tells which vertex of which body, and what was reached until then. What was recorded until \
    then is kept, also after Ctrl-C: see `defcol replay`.")]
pub struct RunOptions {
    /// A scene of `defcol scenes`, or a heap of `defcol bench heap`
    #[arg(value_name = "SCENE")]
    pub scene: String,
    /// Frames
    #[arg(long, default_value_t = 300, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub frames: u32,
    /// Time from frame to frame, in seconds [default: that of the scene, mostly 1/60]
    #[arg(long, value_name = "S")]
    pub dt: Option<f64>,
    /// Steps in a frame [default: that of the scene, mostly 8]
    #[arg(long, value_name = "N")]
    pub substeps: Option<u32>,
    /// Acceleration of gravity in m/s² [default: that of the scene, mostly 0,-9.81,0]
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    pub gravity: Option<[f64; 3]>,
    /// Coulomb friction coefficient [default: that of the scene, mostly 0.5]
    #[arg(long, value_name = "MU", allow_hyphen_values = true)]
    pub friction: Option<f64>,
    /// Distance at which surfaces rest, in m [default: that of the scene, mostly 0.005]
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    pub thickness: Option<f64>,
    /// Add substeps so that no body moves farther than this fraction of its thickness in one [default: never]
    #[arg(long, value_name = "FRACTION", allow_hyphen_values = true)]
    pub largest_move: Option<f64>,
    /// How points in bodies are found
    #[arg(long, value_enum, value_name = "D")]
    pub detector: Option<DetectorChoice>,
    /// What contacts do
    #[arg(long, value_enum, value_name = "R")]
    pub response: Option<ResponseChoice>,
    /// How states follow each other
    #[arg(long, value_enum, value_name = "I")]
    pub integrator: Option<IntegratorChoice>,
    /// Single or double precision
    #[arg(long, value_enum, default_value_t = PrecisionChoice::F64)]
    pub precision: PrecisionChoice,
    /// Draw the last frame
    #[arg(long, value_name = "F.png")]
    pub picture: Option<PathBuf>,
    /// Width of the picture in pixels
    #[arg(long, default_value_t = 960, value_name = "PIXELS")]
    pub width: usize,
    /// Height of the picture in pixels
    #[arg(long, default_value_t = 720, value_name = "PIXELS")]
    pub height: usize,
    /// Moves bodies a little at random; 0 moves nothing
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Keep every frame in a file, for `defcol replay`
    #[arg(long, value_name = "F.mcap")]
    pub record: Option<PathBuf>,
    /// Record over a file that is there
    #[arg(long, requires = "record")]
    pub overwrite: bool,
    /// Record positions as multiples of this length, which takes less room [default: exact]
    #[arg(long, requires = "record", value_name = "LENGTH", value_parser = length)]
    pub quantise: Option<f64>,
    /// What happens if the disk is slower than the simulation; a full disk is waited for
    #[arg(long, requires = "record", value_enum, default_value_t = WhenSlowChoice::Wait)]
    pub when_slow: WhenSlowChoice,
    /// Change things while it runs: lines of JSON like {"frame": 60, "input": {"kind": "parameters", ...}}
    #[arg(long, value_name = "F.jsonl")]
    pub inputs: Option<PathBuf>,
    /// Draw all frames, 480 x 360: .gif, .png (animated), or what ffmpeg writes; `replay --movie` has more choices
    #[arg(long, value_name = "F.gif")]
    pub movie: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum WhenSlowChoice {
    /// The simulation waits
    Wait,
    /// Contacts are left out; positions never are
    DropContacts,
}

/// Play, check and export a recording
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol replay rods.mcap                          what is in it\n  \
    defcol replay rods.mcap --verify                 simulate again, and compare every state\n  \
    defcol replay rods.mcap --frame 120 --picture now.png\n  \
    defcol replay rods.mcap --export out --as vtu    open out/recording.pvd with ParaView\n  \
    defcol replay rods.mcap --export out --as glb --every 4\n  \
    defcol replay rods.mcap --movie rods.gif\n  \
    defcol replay rods.mcap --contacts rods.parquet  for pandas and friends\n\n\
    A recording that was cut off or damaged is read up to its last whole frame, and what is missing is told. \
     A run that failed is expected to fail again with `--verify`. Exports can be \
    interrupted: files that are there are whole.")]
pub struct ReplayOptions {
    /// A recording of `defcol run --record`
    #[arg(value_name = "F.mcap")]
    pub recording: PathBuf,
    /// Simulate again from the scene and the inputs, and compare the hash of each state
    #[arg(long)]
    pub verify: bool,
    /// Tell about one frame
    #[arg(long, value_name = "N", conflicts_with = "frames")]
    pub frame: Option<u64>,
    /// From one frame to another [default: all]
    #[arg(long, value_name = "A..B", value_parser = frame_range)]
    pub frames: Option<(u64, u64)>,
    /// Every second frame only, or every third and so on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
    /// Write frames into a folder
    #[arg(long, value_name = "DIR", requires = "kind")]
    pub export: Option<PathBuf>,
    /// As what
    #[arg(long = "as", value_enum, value_name = "KIND", requires = "export")]
    pub kind: Option<ExportChoice>,
    /// Write all contacts as a table
    #[arg(long, value_name = "F.csv|F.parquet")]
    pub contacts: Option<PathBuf>,
    /// Draw one frame, the last if none is given
    #[arg(long, value_name = "F.png")]
    pub picture: Option<PathBuf>,
    /// Draw all frames: .gif, .png (animated), or what ffmpeg writes
    #[arg(long, value_name = "F.gif")]
    pub movie: Option<PathBuf>,
    /// Pictures of a movie in a second
    #[arg(long, default_value_t = 25.0, value_name = "N")]
    pub rate: f64,
    /// Width of pictures in pixels
    #[arg(long, default_value_t = 480, value_name = "PIXELS")]
    pub width: usize,
    /// Height of pictures in pixels
    #[arg(long, default_value_t = 360, value_name = "PIXELS")]
    pub height: usize,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum ExportChoice {
    /// A VTU file for each frame and a PVD file for all: ParaView
    Vtu,
    /// One GLB file with an animation, for short clips
    Glb,
    /// An OBJ file for each frame
    Obj,
    /// A POV-Ray scene for each frame
    Pov,
}

/// A finite number above 0.
fn length(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("not a length: give a number above 0, like 1e-5".into()),
    }
}

/// Three numbers with commas between them.
fn vector(text: &str) -> Result<[f64; 3], String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let vector = numbers.ok().and_then(|numbers| numbers.try_into().ok());
    vector.ok_or_else(|| "not a vector: give three numbers like 0,-9.81,0".to_owned())
}

/// Two numbers with two points between them.
fn frame_range(text: &str) -> Result<(u64, u64), String> {
    let bad = || "not a range: give two frames like 100..200".to_owned();
    let (from, to) = text.split_once("..").ok_or_else(bad)?;
    match (from.trim().parse(), to.trim().parse()) {
        (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
        _ => Err(bad()),
    }
}

/// Find where two recordings begin to differ
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol diff before.mcap after.mcap\n  \
    defcol diff a.mcap b.mcap --format json\n\n\
    Compares positions, states and contacts frame by frame, bit by bit, and tells the first frame, body, vertex and contact \
    that differ, and by how much. Times are not compared.")]
pub struct DiffOptions {
    /// A recording
    #[arg(value_name = "A.mcap")]
    pub a: PathBuf,
    /// Another one
    #[arg(value_name = "B.mcap")]
    pub b: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum DetectorChoice {
    /// By what the bodies are
    Auto,
    /// Spatial hashing
    Hash,
    /// Trees of bounding volumes
    Trees,
    /// Layered depth images
    Ldi,
    /// Layered depth images, all bodies at once
    LdiOnePass,
    /// Everything against everything
    Brute,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum ResponseChoice {
    /// Surfaces stay a thickness apart
    Layer,
    /// Springs on penetration depths
    Penalty,
    /// Pressure on overlapping volumes
    Pressure,
    /// Overlapping volumes as constraints
    Volume,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum IntegratorChoice {
    Explicit,
    Symplectic,
    Verlet,
    Rk4,
    Implicit,
    Xpbd,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum PrecisionChoice {
    F32,
    F64,
}

impl From<PrecisionChoice> for defcol_recording::Precision {
    fn from(choice: PrecisionChoice) -> Self {
        match choice {
            PrecisionChoice::F32 => Self::F32,
            PrecisionChoice::F64 => Self::F64,
        }
    }
}

/// Measure our hot paths against what people would use instead
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol bench                         all tasks\n  \
    defcol bench hashing --quick         small sizes only\n  \
    defcol bench ldi                     layered depth images, about two minutes\n  \
    defcol bench trees                   twelve morphing dolphins\n  \
    defcol bench depth                   penetration depths and gradients\n  \
    defcol bench recording --threads 1   what recording costs a simulation\n  \
    defcol bench heap rods4 --threads 1  frames of a falling heap, and what the end state is worth\n  \
    PEERS_DATA=folder defcol bench peers T5 rods100 1 2\n\n\
    Every row is a ratio of two times measured in this run, except where a published figure is named. \
    parry3d and manifold are compared if they were built in: cargo run --release --features peers -- bench")]
pub struct BenchOptions {
    /// `hashing`, `ldi`, `trees`, `depth`, `recording`; or `heap SCENE[:SEED] [STATE-FILE]`; or `peers TASK CASE THREADS BUDGET_SECONDS`, a JSON
    /// line per repetition
    #[arg(value_name = "TASK")]
    pub tasks: Vec<String>,
    /// Small sizes only
    #[arg(long)]
    pub quick: bool,
}

/// Draw meshes into a PNG file, without a GPU or display
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    defcol picture liver.msh tool.stl out.png\n  \
    defcol picture model:dragon:150000 dragon.png --width 1600 --height 1200\n  \
    defcol picture model:knot layers.png --ldi layers --resolution 64\n  \
    defcol picture --models models.png   all built-in models on one sheet")]
pub struct PictureOptions {
    /// Meshes, each in its own colour, and the PNG file to write
    #[arg(value_name = "MESH... OUT.png", required = true, num_args = 1..)]
    pub files: Vec<PathBuf>,
    /// Draw all built-in models on one sheet
    #[arg(long)]
    pub models: bool,
    /// Width in pixels
    #[arg(long, default_value_t = 960, value_name = "PIXELS")]
    pub width: usize,
    /// Height in pixels
    #[arg(long, default_value_t = 720, value_name = "PIXELS")]
    pub height: usize,
    /// Where the camera is [default: where all is seen]
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub eye: Option<[f64; 3]>,
    /// What the camera looks at [default: the middle]
    #[arg(long, value_name = "X,Y,Z", value_parser = point, requires = "eye", allow_hyphen_values = true)]
    pub target: Option<[f64; 3]>,
    /// No ground under the meshes
    #[arg(long)]
    pub no_ground: bool,
    /// Draw the layered depth image of one closed mesh instead
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["models", "eye"])]
    pub ldi: Option<LdiPicture>,
    /// With --ldi: pixels along a side of the raster
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = resolution(), requires = "ldi")]
    pub resolution: u32,
    /// With --ldi: the axis along which rays run [default: the shortest side]
    #[arg(long, value_enum, requires = "ldi")]
    pub axis: Option<Axis>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum LdiPicture {
    /// How many layers each pixel has
    Complexity,
    /// The volume between entries and exits, each layer in its own colour
    Layers,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Axis {
    X,
    Y,
    Z,
}

/// Print completions for a shell
#[derive(Args)]
#[command(after_help = "Example:\n  \
    defcol completions bash > ~/.local/share/bash-completion/completions/defcol")]
pub struct CompletionsOptions {
    pub shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
