//! Recognisable characters and objects as implicit shapes. The z axis points up, faces look along -y;
//! most are about two units tall.

use std::f64::consts::{PI, TAU};

use defcol::math::{Bounds, Vector3, sin_cos};
use defcol_io::{Binding, Joint, Skeleton};
use nalgebra::Matrix4;

use defcol_meshing::Shape;

/// Joins parts with fillets of the given width.
fn joined(width: f64, parts: impl IntoIterator<Item = Shape>) -> Shape {
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_else(|| Shape::sphere([0.0; 3], 1.0));
    parts.fold(first, |whole, part| whole.smooth_union(&part, width))
}

/// A part and its mirror image to the left and right.
fn pair(part: Shape) -> Shape {
    part.mirrored(0)
}

/// A human head on a neck.
pub fn head() -> Shape {
    let skull = joined(
        0.25,
        [
            Shape::ellipsoid([0.0, 0.1, 0.45], [0.72, 0.88, 0.8]),
            Shape::ellipsoid([0.0, -0.2, 0.0], [0.55, 0.62, 0.75]),
            Shape::ellipsoid([0.0, -0.55, -0.45], [0.3, 0.25, 0.25]),
            Shape::cylinder([0.0, 0.15, -0.85], 2, 0.4, 0.5, 0.1),
        ],
    );
    let sockets = pair(Shape::sphere([0.28, -0.88, 0.28], 0.2));
    let face = skull.smooth_without(&sockets, 0.15);
    let features = joined(
        0.08,
        [
            Shape::cone([[0.0, -0.72, 0.35], [0.0, -1.0, 0.0]], [0.07, 0.15]),
            pair(Shape::sphere([0.28, -0.72, 0.28], 0.14)),
            pair(Shape::ellipsoid([0.74, 0.15, 0.2], [0.1, 0.2, 0.3])),
            Shape::ellipsoid([0.0, -0.76, -0.24], [0.24, 0.1, 0.09]),
            pair(Shape::capsule([[0.12, -0.82, 0.5], [0.42, -0.7, 0.48]], 0.07)),
        ],
    );
    face.smooth_union(&features, 0.08)
}

/// Four legs under a body: half the width, front and back, height of the hip, radii.
fn legs(half: f64, [front, back]: [f64; 2], hip: f64, [thigh, foot]: [f64; 2]) -> Shape {
    let leg = |y: f64| {
        joined(
            0.06,
            [
                Shape::cone([[half, y, hip], [half, y, foot + 0.05]], [thigh, foot]),
                Shape::ellipsoid([half, y - 0.06, foot], [foot * 1.25, foot * 1.6, foot]),
            ],
        )
    };
    pair(leg(front).union(&leg(back)))
}

/// A cow.
pub fn cow() -> Shape {
    joined(
        0.14,
        [
            Shape::block([0.0, 0.15, 1.25], [0.48, 1.05, 0.45], 0.4),
            Shape::ellipsoid([0.0, 0.35, 1.05], [0.52, 0.7, 0.42]),
            legs(0.3, [-0.62, 0.92], 1.1, [0.2, 0.13]),
            Shape::cone([[0.0, -0.75, 1.45], [0.0, -1.2, 1.75]], [0.38, 0.26]),
            Shape::ellipsoid([0.0, -1.35, 1.75], [0.28, 0.36, 0.3]),
            Shape::ellipsoid([0.0, -1.7, 1.6], [0.22, 0.22, 0.18]),
            pair(Shape::ellipsoid([0.42, -1.2, 1.85], [0.2, 0.08, 0.1])),
            pair(Shape::cone([[0.2, -1.22, 2.0], [0.36, -1.3, 2.32]], [0.09, 0.05])),
            Shape::ellipsoid([0.0, 0.65, 0.75], [0.22, 0.26, 0.18]),
            Shape::capsule([[0.0, 1.2, 1.55], [0.0, 1.38, 0.85]], 0.07),
            Shape::ellipsoid([0.0, 1.4, 0.7], [0.11, 0.11, 0.2]),
        ],
    )
}

/// A teddy bear.
pub fn teddy() -> Shape {
    joined(
        0.12,
        [
            Shape::ellipsoid([0.0, 0.0, 0.75], [0.54, 0.44, 0.66]),
            Shape::sphere([0.0, -0.05, 1.7], 0.52),
            Shape::ellipsoid([0.0, -0.5, 1.58], [0.24, 0.2, 0.2]),
            Shape::sphere([0.0, -0.7, 1.66], 0.08),
            pair(Shape::sphere([0.42, 0.02, 2.12], 0.2)),
            pair(Shape::cone([[0.45, -0.05, 1.15], [1.0, -0.3, 0.85]], [0.19, 0.17])),
            pair(Shape::cone([[0.35, -0.2, 0.25], [0.57, -0.8, 0.2]], [0.24, 0.2])),
            pair(Shape::ellipsoid([0.58, -0.92, 0.27], [0.2, 0.12, 0.27])),
        ],
    )
}

/// A stocky dog.
pub fn pitbull() -> Shape {
    joined(
        0.12,
        [
            Shape::ellipsoid([0.0, 0.45, 1.1], [0.24, 0.88, 0.24]),
            Shape::ellipsoid([0.0, -0.35, 1.12], [0.33, 0.42, 0.37]),
            legs(0.29, [-0.5, 0.95], 0.95, [0.14, 0.09]),
            Shape::cone([[0.0, -0.5, 1.38], [0.0, -0.9, 1.7]], [0.26, 0.23]),
            Shape::ellipsoid([0.0, -1.0, 1.78], [0.35, 0.34, 0.29]),
            Shape::block([0.0, -1.4, 1.66], [0.2, 0.26, 0.14], 0.1),
            Shape::sphere([0.0, -1.68, 1.76], 0.09),
            Shape::block([0.0, -1.36, 1.47], [0.17, 0.2, 0.07], 0.05),
            pair(Shape::cone([[0.28, -0.88, 2.02], [0.42, -1.0, 2.22]], [0.12, 0.06])),
            Shape::tube(&[
                ([0.0, 1.15, 1.2], 0.1),
                ([0.0, 1.5, 1.35], 0.07),
                ([0.0, 1.75, 1.7], 0.05),
            ]),
        ],
    )
}

/// A sitting rabbit.
pub fn rabbit() -> Shape {
    joined(
        0.12,
        [
            Shape::ellipsoid([0.0, 0.25, 0.6], [0.52, 0.66, 0.6]),
            Shape::ellipsoid([0.0, -0.2, 0.95], [0.36, 0.36, 0.42]),
            Shape::ellipsoid([0.0, -0.42, 1.45], [0.3, 0.38, 0.3]),
            Shape::ellipsoid([0.0, -0.74, 1.36], [0.15, 0.14, 0.13]),
            pair(
                Shape::ellipsoid([0.0, 0.0, 0.0], [0.12, 0.08, 0.5])
                    .turned(1, 0.22)
                    .moved([0.24, -0.25, 2.1]),
            ),
            pair(Shape::ellipsoid([0.42, 0.35, 0.35], [0.22, 0.42, 0.36])),
            pair(Shape::capsule([[0.42, 0.2, 0.1], [0.42, -0.4, 0.1]], 0.12)),
            pair(Shape::cone([[0.2, -0.35, 0.75], [0.2, -0.5, 0.1]], [0.14, 0.1])),
            Shape::sphere([0.0, 0.95, 0.42], 0.2),
        ],
    )
}

/// A lizard on its belly, its tail bent to the side, with a comb along its back.
pub fn reptile() -> Shape {
    let tail: Vec<([f64; 3], f64)> = (0..=10)
        .map(|k| {
            let t = f64::from(k) / 10.0;
            let (sin, cos) = sin_cos(2.0 * t);
            ([0.9 * (1.0 - cos), 0.7 + 1.6 * sin, 0.34 - 0.2 * t], 0.3 - 0.25 * t)
        })
        .collect();
    let leg = |y: f64, forward: f64| {
        Shape::tube(&[
            ([0.25, y, 0.35], 0.15),
            ([0.75, y + forward, 0.42], 0.12),
            ([0.85, y + forward - 0.25, 0.1], 0.09),
            ([0.95, y + forward - 0.5, 0.07], 0.06),
        ])
    };
    let comb = (0..9).map(|k| {
        let y = -0.75 + 0.19 * f64::from(k);
        Shape::cone([[0.0, y, 0.6], [0.0, y + 0.08, 0.86]], [0.09, 0.03])
    });
    let body = joined(
        0.12,
        [
            Shape::ellipsoid([0.0, 0.0, 0.4], [0.42, 1.0, 0.32]),
            Shape::tube(&tail),
            Shape::ellipsoid([0.0, -1.05, 0.5], [0.3, 0.36, 0.22]),
            Shape::ellipsoid([0.0, -1.4, 0.46], [0.2, 0.38, 0.13]),
            pair(Shape::sphere([0.17, -1.1, 0.7], 0.09)),
            pair(leg(-0.55, -0.1)),
            pair(leg(0.55, 0.1)),
        ],
    );
    joined(0.05, std::iter::once(body).chain(comb))
}

/// Santa Claus with a sack.
pub fn santa() -> Shape {
    joined(
        0.08,
        [
            Shape::ellipsoid([0.0, 0.0, 0.85], [0.6, 0.55, 0.6]),
            Shape::cylinder([0.0, 0.0, 0.8], 2, 0.62, 0.09, 0.05),
            Shape::block([0.0, -0.6, 0.8], [0.13, 0.06, 0.12], 0.03),
            pair(Shape::cone([[0.24, 0.0, 0.5], [0.26, -0.05, 0.12]], [0.24, 0.2])),
            pair(Shape::ellipsoid([0.27, -0.18, 0.12], [0.2, 0.34, 0.13])),
            Shape::sphere([0.0, -0.05, 1.6], 0.36),
            Shape::ellipsoid([0.0, -0.3, 1.36], [0.28, 0.18, 0.36]),
            Shape::sphere([0.0, -0.44, 1.6], 0.08),
            Shape::ring([0.0, -0.03, 1.8], 2, 0.3, 0.1),
            Shape::tube(&[
                ([0.0, 0.0, 1.85], 0.28),
                ([0.05, 0.08, 2.15], 0.16),
                ([0.3, 0.12, 2.3], 0.08),
            ]),
            Shape::sphere([0.42, 0.12, 2.2], 0.13),
            pair(Shape::tube(&[
                ([0.48, 0.0, 1.2], 0.2),
                ([0.8, -0.1, 0.95], 0.17),
                ([0.72, -0.4, 1.0], 0.14),
            ])),
            Shape::ellipsoid([-0.55, 0.6, 1.15], [0.48, 0.42, 0.62]),
            Shape::cone([[-0.5, 0.5, 1.6], [-0.45, 0.3, 1.9]], [0.16, 0.12]),
        ],
    )
}

/// A winged dragon: a coiled body with thin wings, horns, claws and a comb. Many layers along any axis.
pub fn dragon() -> Shape {
    let point = |t: f64| {
        let (sin, cos) = sin_cos(TAU * 1.6 * t);
        let radius = 0.95 - 0.35 * t;
        [radius * cos, 0.35 + radius * sin, 0.25 + 1.5 * t * t]
    };
    let girth = |t: f64| 0.06 + 0.3 * (PI * (0.12 + 0.8 * t)).sin().max(0.0);
    let spine: Vec<([f64; 3], f64)> =
        (0..=36).map(|k| f64::from(k) / 36.0).map(|t| (point(t), girth(t))).collect();
    let [x, y, z] = point(1.0);
    let neck = [
        ([x, y, z], 0.2),
        ([x - 0.2, y - 0.5, z + 0.45], 0.19),
        ([x - 0.2, y - 0.95, z + 0.55], 0.2),
    ];
    let snout = [x - 0.2, y - 1.15, z + 0.52];
    let at = |dx: f64, dy: f64, dz: f64| [snout[0] + dx, snout[1] + dy, snout[2] + dz];
    let sides = |part: &dyn Fn(f64) -> Shape| part(1.0).union(&part(-1.0));
    let head = joined(
        0.06,
        [
            Shape::ellipsoid(at(0.0, 0.1, 0.02), [0.24, 0.3, 0.2]),
            Shape::block(at(0.0, -0.28, 0.02), [0.15, 0.24, 0.07], 0.06),
            Shape::block(at(0.0, -0.2, -0.17), [0.12, 0.22, 0.045], 0.04),
            sides(&|s| {
                Shape::cone([at(0.12 * s, 0.25, 0.12), at(0.3 * s, 0.65, 0.32)], [0.08, 0.05])
            }),
            sides(&|s| Shape::sphere(at(0.17 * s, -0.02, 0.14), 0.07)),
            sides(&|s| {
                Shape::cone([at(0.07 * s, -0.44, 0.08), at(0.07 * s, -0.5, 0.17)], [0.05, 0.05])
            }),
        ],
    );
    let shoulder = point(0.82);
    let wing = |s: f64| {
        let root = [shoulder[0] + 0.12 * s, shoulder[1] + 0.05, shoulder[2] + 0.1];
        let elbow = [root[0] + 0.75 * s, root[1] + 0.35, root[2] + 0.75];
        let tips = [[1.75, 0.5, 0.55], [1.45, 0.75, -0.05], [0.85, 0.8, -0.25]]
            .map(|[a, b, c]| [root[0] + a * s, root[1] + b, root[2] + c]);
        let bones = joined(
            0.04,
            [
                Shape::cone([root, elbow], [0.09, 0.06]),
                Shape::cone([elbow, tips[0]], [0.06, 0.05]),
                Shape::cone([elbow, tips[1]], [0.055, 0.05]),
                Shape::cone([elbow, tips[2]], [0.055, 0.05]),
            ],
        );
        let skin = joined(
            0.02,
            [
                membrane([elbow, tips[0], tips[1]]),
                membrane([elbow, tips[1], tips[2]]),
                membrane([elbow, tips[2], root]),
            ],
        );
        bones.smooth_union(&skin, 0.03)
    };
    let comb = (3..34).step_by(2).map(|k| {
        let t = f64::from(k) / 36.0;
        let ([x, y, z], r) = (point(t), girth(t));
        Shape::cone([[x, y, z + r * 0.8], [x, y, z + r + 0.16]], [0.08, 0.05])
    });
    let claw = |t: f64, s: f64| {
        let [x, y, z] = point(t);
        let foot = [x + 0.35 * s, y - 0.4, 0.1];
        joined(
            0.05,
            [
                Shape::tube(&[
                    ([x + 0.1 * s, y, z], 0.16),
                    ([x + 0.38 * s, y - 0.12, z * 0.55], 0.11),
                    (foot, 0.08),
                ]),
                Shape::cone([foot, [foot[0] + 0.12, foot[1] - 0.22, 0.05]], [0.07, 0.055]),
                Shape::cone([foot, [foot[0], foot[1] - 0.26, 0.05]], [0.07, 0.055]),
                Shape::cone([foot, [foot[0] - 0.12, foot[1] - 0.22, 0.05]], [0.07, 0.055]),
            ],
        )
    };
    let body = joined(
        0.08,
        [
            Shape::tube(&spine),
            Shape::tube(&neck),
            head,
            wing(1.0),
            wing(-1.0),
            claw(0.72, 1.0),
            claw(0.72, -1.0),
        ],
    );
    joined(0.03, std::iter::once(body).chain(comb))
}

/// A thin sheet between three points.
fn membrane([a, b, c]: [[f64; 3]; 3]) -> Shape {
    let [a, b, c] = [a, b, c].map(Vector3::from);
    let thickness = 0.05;
    let bounds = Bounds::of([a, b, c]).grown(thickness);
    let normal = (b - a).cross(&(c - a));
    Shape::new(bounds, 1.0, move |p| {
        let side =
            |p0: Vector3<f64>, p1: Vector3<f64>| (p1 - p0).cross(&normal).dot(&(p - p0)) <= 0.0;
        let edge = |p0: Vector3<f64>, p1: Vector3<f64>| {
            let along = ((p - p0).dot(&(p1 - p0)) / (p1 - p0).norm_squared()).clamp(0.0, 1.0);
            (p - p0 - (p1 - p0) * along).norm()
        };
        let distance = if side(a, b) && side(b, c) && side(c, a) {
            (p - a).dot(&normal).abs() / normal.norm()
        } else {
            edge(a, b).min(edge(b, c)).min(edge(c, a))
        };
        distance - thickness
    })
}

/// A right hand, palm towards -y. `closed` goes from 0, flat, to 1, a fist.
pub fn hand(closed: f64) -> Shape {
    let closed = closed.clamp(0.0, 1.0);
    let finger = |x: f64, length: f64, radius: f64, spread: f64| {
        let mut at = [x, 0.0, 0.95];
        let mut path = vec![(at, radius)];
        let mut angle = 0.1 * closed;
        for part in [0.45, 0.32, 0.23] {
            angle += 1.45 * closed;
            let (sin, cos) = sin_cos(angle);
            at = [
                at[0] + spread * length * part * (1.0 - closed),
                at[1] - sin * length * part,
                at[2] + cos * length * part,
            ];
            path.push((at, radius * (1.0 - 0.06 * path.len() as f64)));
        }
        Shape::tube(&path)
    };
    let (sin, cos) = sin_cos(0.9 * closed);
    let thumb = Shape::tube(&[
        ([0.34, -0.05, 0.25], 0.17),
        ([0.62 - 0.15 * closed, -0.12 - 0.2 * sin, 0.55], 0.14),
        ([0.78 - 0.55 * closed, -0.15 - 0.35 * sin, 0.55 + 0.32 * cos], 0.11),
    ]);
    joined(
        0.07,
        [
            Shape::block([0.0, 0.0, 0.5], [0.43, 0.15, 0.5], 0.14),
            Shape::cylinder([0.0, 0.0, -0.25], 2, 0.26, 0.4, 0.1),
            finger(0.33, 0.78, 0.115, 0.12),
            finger(0.115, 0.9, 0.12, 0.03),
            finger(-0.105, 0.84, 0.115, -0.06),
            finger(-0.32, 0.66, 0.1, -0.16),
            thumb,
        ],
    )
}

/// A telephone with a screen, a round button and a camera bump.
pub fn phone() -> Shape {
    Shape::block([0.0, 0.0, 1.0], [0.5, 0.09, 1.0], 0.08)
        .without(&Shape::block([0.0, -0.1, 1.06], [0.42, 0.04, 0.76], 0.02))
        .without(&Shape::cylinder([0.0, -0.1, 0.15], 1, 0.09, 0.04, 0.01))
        .union(&Shape::block([0.24, 0.1, 1.72], [0.17, 0.06, 0.17], 0.04))
        .union(&Shape::block([0.5, 0.0, 1.4], [0.04, 0.04, 0.16], 0.02))
}

/// A mouse that sits up, with large ears and a long tail.
pub fn mouse() -> Shape {
    joined(
        0.1,
        [
            Shape::ellipsoid([0.0, 0.15, 0.5], [0.42, 0.5, 0.5]),
            Shape::ellipsoid([0.0, -0.2, 1.15], [0.34, 0.4, 0.32]),
            Shape::cone([[0.0, -0.4, 1.1], [0.0, -0.72, 1.02]], [0.2, 0.08]),
            Shape::sphere([0.0, -0.8, 1.03], 0.07),
            pair(Shape::ellipsoid([0.38, -0.02, 1.48], [0.28, 0.07, 0.28])),
            pair(Shape::cone([[0.25, -0.25, 0.75], [0.22, -0.55, 0.7]], [0.1, 0.07])),
            pair(Shape::ellipsoid([0.3, -0.25, 0.1], [0.14, 0.3, 0.1])),
            Shape::tube(&[
                ([0.0, 0.55, 0.2], 0.1),
                ([0.15, 1.0, 0.1], 0.07),
                ([0.6, 1.25, 0.12], 0.06),
                ([1.0, 1.05, 0.3], 0.05),
                ([1.05, 0.8, 0.6], 0.045),
            ]),
        ],
    )
}

/// A hat with a brim, hollow from below. It fits the mouse when moved by [`MOUSE_HAT`].
pub fn hat() -> Shape {
    let crown = Shape::cylinder([0.0, 0.0, 0.3], 2, 0.36, 0.32, 0.08);
    let brim = Shape::cylinder([0.0, 0.0, 0.02], 2, 0.66, 0.05, 0.04);
    let band = Shape::ring([0.0, 0.0, 0.14], 2, 0.35, 0.05);
    joined(0.05, [crown, brim, band])
        .smooth_without(&Shape::cylinder([0.0, 0.0, 0.05], 2, 0.27, 0.44, 0.06), 0.03)
}

/// Where the hat sits on the mouse.
pub const MOUSE_HAT: [f64; 3] = [0.0, -0.18, 1.36];

/// The middle line of an arm of the octopus and its radius, from the body (0) to the tip (1).
fn octopus_arm(k: u32, phase: f64, t: f64) -> ([f64; 3], f64) {
    let (wave, _) = sin_cos(TAU * (phase + f64::from(k) / 8.0 - 0.9 * t));
    let (sin, cos) = sin_cos(TAU * (f64::from(k) + 0.5) / 8.0 + 0.45 * t * wave);
    let reach = 0.25 + 1.35 * t;
    let height = 0.45 - 0.35 * t + 0.16 * t * wave.abs() + 0.25 * (t - 0.6).max(0.0);
    ([reach * cos, reach * sin, height], 0.2 - 0.14 * t)
}

/// Joints for the octopus, four an arm and one for the head, and how strongly vertices follow them.
pub fn octopus_skeleton(phase: f64, vertices: &[Vector3<f64>]) -> Skeleton {
    const SEGMENTS: u32 = 4;
    const STEPS: u32 = 24;
    let root = Vector3::new(0.0, 0.0, 0.7);
    let place = |joint: u32| match joint {
        0 => root,
        _ => {
            let (arm, segment) = ((joint - 1) / SEGMENTS, (joint - 1) % SEGMENTS);
            Vector3::from(octopus_arm(arm, phase, f64::from(segment) / f64::from(SEGMENTS)).0)
        }
    };
    let joints = (0..1 + 8 * SEGMENTS).map(|joint| {
        let parent = (joint > 0).then(|| if (joint - 1) % SEGMENTS == 0 { 0 } else { joint - 1 });
        let above = parent.map_or_else(Vector3::zeros, place);
        Joint {
            name: if joint == 0 {
                "head".into()
            } else {
                format!("arm {} {}", (joint - 1) / SEGMENTS, (joint - 1) % SEGMENTS)
            },
            parent,
            local: Matrix4::new_translation(&(place(joint) - above)),
            inverse_bind: Matrix4::new_translation(&-place(joint)),
        }
    });
    let bindings = vertices.iter().map(|vertex| {
        // The nearest place on the middle line of an arm.
        let samples = (0..8)
            .flat_map(|arm| (0..=STEPS).map(move |step| (arm, f64::from(step) / f64::from(STEPS))));
        let nearest = samples
            .map(|(arm, t)| ((Vector3::from(octopus_arm(arm, phase, t).0) - vertex).norm(), arm, t))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((distance, arm, t)) = nearest else { return Binding::default() };
        let first = 1 + arm * SEGMENTS;
        // On the head, the root alone; along an arm, from one joint to the next.
        if t == 0.0 || distance > 0.3 {
            return Binding { joints: [0; 4], weights: [1.0, 0.0, 0.0, 0.0] };
        }
        let along = t * f64::from(SEGMENTS) - 0.5;
        let low = along.floor();
        let part = (along - low) as f32;
        let joint =
            |index: f64| if index < 0.0 { 0 } else { first + (index as u32).min(SEGMENTS - 1) };
        let [a, b] = [joint(low), joint(low + 1.0)];
        if a == b {
            return Binding { joints: [a, 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0] };
        }
        Binding { joints: [a, b, 0, 0], weights: [1.0 - part, part, 0.0, 0.0] }
    });
    Skeleton { joints: joints.collect(), bindings: bindings.collect() }
}

/// An octopus; `phase` (in turns) moves its arms.
pub fn octopus(phase: f64) -> Shape {
    let arm = |k: u32| {
        let path: Vec<_> =
            (0..=9).map(|step| octopus_arm(k, phase, f64::from(step) / 9.0)).collect();
        Shape::tube(&path)
    };
    let head = joined(
        0.15,
        [
            Shape::ellipsoid([0.0, 0.15, 1.15], [0.52, 0.56, 0.66]),
            Shape::ellipsoid([0.0, 0.0, 0.55], [0.4, 0.4, 0.3]),
        ],
    );
    let eyes = pair(Shape::sphere([0.26, -0.36, 0.9], 0.13));
    joined(0.12, std::iter::once(head.smooth_union(&eyes, 0.04)).chain((0..8).map(arm)))
}

/// A bowl on a foot.
pub fn bowl() -> Shape {
    let half = Shape::block([0.0, 0.0, -0.6], [1.2, 1.2, 1.2], 0.0);
    let wall = Shape::sphere([0.0, 0.0, 0.9], 0.85)
        .shell(0.07)
        .intersection(&half.moved([0.0, 0.0, 0.35]));
    wall.smooth_union(&Shape::ring([0.0, 0.0, 0.06], 2, 0.34, 0.08), 0.08)
}

/// Three rings, each through the next.
pub fn rings() -> Shape {
    Shape::ring([0.0, 0.0, 0.75], 1, 0.6, 0.13)
        .union(&Shape::ring([0.85, 0.0, 0.75], 2, 0.6, 0.13))
        .union(&Shape::ring([1.7, 0.0, 0.75], 1, 0.6, 0.13))
}

/// The inside of a uterus: a thick wall around a cavity that opens below.
pub fn uterus() -> Shape {
    let pear = |grow: f64| {
        joined(
            0.35,
            [
                Shape::ellipsoid([0.0, 0.0, 1.3], [0.72 + grow, 0.42 + grow, 0.5 + grow]),
                Shape::cone([[0.0, 0.0, 1.0], [0.0, 0.0, 0.25]], [0.4 + grow, 0.2 + grow]),
            ],
        )
    };
    let channel = Shape::capsule([[0.0, 0.0, 1.0], [0.0, 0.0, -0.6]], 0.13);
    let tubes = pair(Shape::tube(&[
        ([0.6, 0.0, 1.55], 0.2),
        ([1.15, 0.05, 1.85], 0.12),
        ([1.5, 0.1, 1.7], 0.1),
    ]));
    pear(0.22).smooth_union(&tubes, 0.2).smooth_without(&pear(-0.08).union(&channel), 0.06)
}

/// A polyp: a soft drop on a stalk.
pub fn polyp() -> Shape {
    joined(
        0.2,
        [
            Shape::cone([[0.0, 0.0, 0.0], [0.05, 0.0, 0.7]], [0.22, 0.13]),
            Shape::ellipsoid([0.1, 0.0, 1.15], [0.46, 0.42, 0.5]),
            Shape::ellipsoid([0.32, -0.15, 1.35], [0.26, 0.26, 0.26]),
            Shape::cylinder([0.0, 0.0, -0.02], 2, 0.6, 0.1, 0.08),
        ],
    )
}

/// A myoma: a hard, lumpy ball.
pub fn myoma() -> Shape {
    Shape::sphere([0.0, 0.0, 0.8], 0.72).displaced(0.2, 1.2, |p| {
        let (a, _) = sin_cos(5.0 * p.x + 1.3 * p.z);
        let (b, _) = sin_cos(4.6 * p.y - 1.7 * p.x);
        let (c, _) = sin_cos(5.3 * p.z + p.y);
        0.065 * (a + b + c)
    })
}
