//! Pictures show what they should, and the same for any number of threads.

use defcol::math::Vector3;
use defcol::mesh::RawMesh;
use defcol_io::Model;
use defcol_render::{COLOURS, Camera, Picture, PictureOptions, draw, write_png};
use defcol_scenes::regular::{ball, icosphere, torus};

fn moved(mut mesh: RawMesh<f64>, offset: [f64; 3]) -> Model {
    mesh.positions.iter_mut().for_each(|p| *p += Vector3::from(offset));
    Model::from_mesh(mesh)
}

fn small() -> PictureOptions {
    PictureOptions { width: 160, height: 120, ..Default::default() }
}

fn at(picture: &Picture, x: usize, y: usize) -> [i32; 3] {
    picture.pixels[y * picture.width + x].map(i32::from)
}

#[test]
fn bodies_have_their_colours_and_the_nearer_hides_the_farther() {
    let front = moved(icosphere(0.5, 4), [0.0, -2.0, 0.5]);
    let back = moved(icosphere(0.5, 4), [0.0, 2.0, 0.5]);
    let eye = Vector3::new(0.0, -10.0, 0.5);
    let camera = Some(Camera { eye, target: Vector3::new(0.0, 0.0, 0.5), angle: 0.3 });
    let options = PictureOptions { camera, ..small() };
    let hue = |[r, g, b]: [i32; 3]| [(r - b).signum(), (r - g).signum()];
    let colour = |k: usize| hue(COLOURS[k].map(i32::from));
    let only_front = draw(&[front.clone(), back.clone()], &options).unwrap();
    assert_eq!(hue(at(&only_front, 80, 60)), colour(0));
    let swapped = draw(&[back, front], &options).unwrap();
    assert_eq!(hue(at(&swapped, 80, 60)), colour(1));
}

#[test]
fn the_ground_is_darker_in_the_shadow() {
    let scene =
        [moved(icosphere(0.5, 4), [0.0, 0.0, 1.5]), moved(icosphere(0.05, 1), [0.0, 0.0, 0.05])];
    // From above: the light comes from the left and the front, the shadow falls to the right and back.
    let eye = Vector3::new(0.0, -0.01, 12.0);
    let camera = Some(Camera { eye, target: Vector3::new(0.0, 0.0, 0.0), angle: 0.6 });
    let picture = draw(&scene, &PictureOptions { camera, ..small() }).unwrap();
    let bare = draw(&scene[1..], &PictureOptions { camera, ..small() }).unwrap();
    let darker = (0..picture.pixels.len())
        .filter(|&k| i32::from(bare.pixels[k][1]) - i32::from(picture.pixels[k][1]) > 20)
        .map(|k| (k % 160, k / 160))
        .collect::<Vec<_>>();
    assert!(darker.iter().any(|&(x, y)| x > 85 && y < 55), "to the right and back");
    assert!(!darker.iter().any(|&(x, y)| x < 60 && y > 75), "not to the left and front");
}

#[test]
fn the_fitted_camera_shows_all_of_it() {
    for (width, height) in [(160, 120), (60, 200), (300, 40)] {
        let options = PictureOptions { width, height, ground: false, ..Default::default() };
        let picture = draw(&[Model::from_mesh(torus(3.0, 0.4, 60, 20))], &options).unwrap();
        let sky = picture.pixels[0];
        let body: Vec<usize> =
            (0..picture.pixels.len()).filter(|&k| picture.pixels[k] != sky).collect();
        assert!(body.len() > width * height / 50, "something is seen");
        assert!(
            body.iter().all(|k| {
                let (x, y) = (k % width, k / width);
                x > 0 && y > 0 && x + 1 < width && y + 1 < height
            }),
            "and nothing is cut off"
        );
    }
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let scene = [Model::from_mesh(torus(1.0, 0.3, 60, 30)), Model::from_mesh(ball(0.5))];
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| draw(&scene, &small()).unwrap())
    };
    assert!(with(1) == with(4));
}

#[test]
fn pictures_of_nothing_and_of_impossible_sizes_are_refused() {
    assert!(draw(&[], &small()).is_err());
    assert!(draw(&[Model::default()], &small()).is_err());
    let model = Model::from_mesh(icosphere(1.0, 1));
    for (width, height) in [(0, 10), (10, 0), (100_000, 10), (16_384, 16_384)] {
        let options = PictureOptions { width, height, ..Default::default() };
        assert!(draw(std::slice::from_ref(&model), &options).is_err());
    }
    let far = Some(Camera {
        eye: Vector3::new(9.0, 0.0, 0.0),
        target: Vector3::new(99.0, 0.0, 0.0),
        angle: 0.5,
    });
    let away = draw(std::slice::from_ref(&model), &PictureOptions { camera: far, ..small() });
    assert!(away.unwrap_err().to_string().contains("nothing is in view"));
    // A camera inside the body sees something, or nothing, and does not panic.
    let camera = Some(Camera { eye: Vector3::zeros(), target: Vector3::zeros(), angle: 0.5 });
    let _ = draw(&[model], &PictureOptions { camera, ..small() });
}

#[test]
fn a_png_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.png");
    let picture = draw(&[Model::from_mesh(ball(1.0))], &small()).unwrap();
    write_png(&path, &picture).unwrap();
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    assert_eq!(bytes, picture.pixels.as_flattened());
}
