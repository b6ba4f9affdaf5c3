use defcol::math::{Bounds, Vector3};

/// From where and in which direction a picture is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Where the camera is.
    pub eye: Vector3<f64>,
    /// What it looks at.
    pub target: Vector3<f64>,
    /// The vertical angle of view in radians.
    pub angle: f64,
}

/// A camera with its axes: points to pixels.
pub(crate) struct View {
    pub eye: Vector3<f64>,
    pub right: Vector3<f64>,
    pub up: Vector3<f64>,
    pub forward: Vector3<f64>,
    /// Pixels per unit of length at distance 1; none for a parallel projection.
    pub scale: f64,
    pub parallel: bool,
    pub width: usize,
    pub height: usize,
}

impl Camera {
    /// Looks at the middle of a box from the given direction, as near as shows all of it.
    pub fn fitted(bounds: Bounds<f64>, direction: Vector3<f64>, aspect: f64) -> Self {
        let angle = 0.5;
        let target = bounds.center();
        let mut camera = Self { eye: target + direction.normalize(), target, angle };
        let radius = bounds.extent().norm().max(1e-300) / 2.0;
        // Unit height at unit distance; the corners of the box decide the distance.
        let view = View::new(&camera, aspect.max(1e-3), 1.0);
        let (tan_y, tan_x) = ((angle / 2.0).tan(), (angle / 2.0).tan() * aspect);
        let mut distance = 0f64;
        for k in 0..8 {
            let corner = Vector3::from_fn(|axis, _| {
                if k >> axis & 1 == 0 { bounds.min[axis] } else { bounds.max[axis] }
            }) - target;
            let (x, y, z) =
                (corner.dot(&view.right), corner.dot(&view.up), corner.dot(&view.forward));
            distance = distance.max(x.abs() / tan_x - z).max(y.abs() / tan_y - z);
        }
        camera.eye = target + direction.normalize() * (distance * 1.12).max(radius * 1e-3);
        camera
    }
}

impl View {
    fn new(camera: &Camera, width: f64, height: f64) -> Self {
        let forward = (camera.target - camera.eye).try_normalize(0.0).unwrap_or_else(Vector3::y);
        let sideways = forward.cross(&Vector3::z());
        let right = sideways.try_normalize(1e-9).unwrap_or_else(Vector3::x);
        let up = right.cross(&forward);
        let scale = height / 2.0 / (camera.angle / 2.0).tan();
        let (width, height) = (width as usize, height as usize);
        Self { eye: camera.eye, right, up, forward, scale, parallel: false, width, height }
    }

    pub fn perspective(camera: &Camera, width: usize, height: usize) -> Self {
        Self::new(camera, width as f64, height as f64)
    }

    /// Parallel rays along `direction` that see all of a ball.
    pub fn parallel(
        center: Vector3<f64>,
        radius: f64,
        direction: Vector3<f64>,
        size: usize,
    ) -> Self {
        let eye = center - direction * (2.0 * radius);
        let camera = Camera { eye, target: center, angle: 1.0 };
        let mut view = Self::new(&camera, size as f64, size as f64);
        view.scale = size as f64 / (2.1 * radius);
        view.parallel = true;
        view
    }

    /// Pixel coordinates and distance along the axis.
    pub fn project(&self, point: Vector3<f64>) -> Vector3<f64> {
        let offset = point - self.eye;
        let depth = offset.dot(&self.forward);
        let scale = if self.parallel { self.scale } else { self.scale / depth };
        Vector3::new(
            self.width as f64 / 2.0 + offset.dot(&self.right) * scale,
            self.height as f64 / 2.0 - offset.dot(&self.up) * scale,
            depth,
        )
    }

    /// The direction through a pixel, of length 1 along the axis.
    pub fn ray(&self, x: f64, y: f64) -> Vector3<f64> {
        let (x, y) = (x - self.width as f64 / 2.0, self.height as f64 / 2.0 - y);
        self.forward + (self.right * x + self.up * y) / self.scale
    }
}
