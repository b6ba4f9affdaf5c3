use defcol::detect::SelfPairs;
use defcol::detect::bvh::*;
use defcol::mesh::TriangleMesh;
use std::time::Instant;
fn mesh(n: &str) -> TriangleMesh<f32> {
    let p = std::path::PathBuf::from(format!("/tmp/peers/data/{n}.obj"));
    TriangleMesh::new(
        defcol_io::read(&p, &defcol_io::Progress::default()).unwrap().mesh.cast::<f32>(),
    )
    .unwrap()
}
fn run<V: BoundingVolume<f32>, const A: usize>(what: &str, split: Split) {
    let (rest, now) = (mesh("blob50k"), mesh("blob50k_def"));
    let mut c = Collider::<f32, V, A>::deforming(&rest, split);
    let (mut f, mut p) = (PairFinder::default(), SelfPairs::default());
    let mut best = f64::MAX;
    for _ in 0..60 {
        let t = Instant::now();
        c.set_positions(now.positions(), Update::Full).unwrap();
        f.within(&mut c, &mut p);
        best = best.min(t.elapsed().as_secs_f64() * 1e3);
    }
    println!(
        "{what} {split:?} {A}: {best:.2} ms nodes {} depth {} work {:?}",
        c.tree().len(),
        c.tree().depth(),
        f.work()
    );
}
fn main() {
    run::<BoundingBox<f32>, 8>("box", Split::SurfaceArea);
}
