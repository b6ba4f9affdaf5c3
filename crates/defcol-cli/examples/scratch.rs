#![allow(missing_docs, unused)]
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
fn main() {
    let (ra, a, rb, b) =
        (mesh("knot12k"), mesh("pair_12k-50k_deep_a"), mesh("blob50k"), mesh("blob50k_def"));
    for split in [Split::SurfaceArea, Split::Middle] {
        let mut ca = Collider::<f32>::deforming(&ra, split);
        let mut cb = Collider::<f32>::deforming(&rb, split);
        let (mut f, mut p) = (PairFinder::default(), vec![]);
        let mut best = f64::MAX;
        let mut bq = f64::MAX;
        for _ in 0..60 {
            let t = Instant::now();
            ca.set_positions(a.positions(), Update::Hybrid).unwrap();
            cb.set_positions(b.positions(), Update::Hybrid).unwrap();
            let q = Instant::now();
            f.all(&mut ca, &mut cb, &mut p);
            best = best.min(t.elapsed().as_secs_f64() * 1e3);
            bq = bq.min(q.elapsed().as_secs_f64() * 1e3);
        }
        println!(
            "{split:?} {best:.2} ms query {bq:.2} fresh {} of {}, {} of {} pairs {} work {:?}",
            ca.nodes_up_to_date(),
            ca.tree().len(),
            cb.nodes_up_to_date(),
            cb.tree().len(),
            p.len(),
            f.work()
        );
        let rest = mesh("blob5k");
        let now = mesh("blob5k_selfhit");
        let mut c = Collider::<f32>::deforming(&rest, split);
        let mut s = SelfPairs::default();
        let mut best = f64::MAX;
        for _ in 0..60 {
            let t = Instant::now();
            c.set_positions(now.positions(), Update::Full).unwrap();
            f.within(&mut c, &mut s);
            best = best.min(t.elapsed().as_secs_f64() * 1e3);
        }
        println!("self {best:.2} ms {} {} work {:?}", s.apart.len(), s.sharing.len(), f.work());
    }
}
