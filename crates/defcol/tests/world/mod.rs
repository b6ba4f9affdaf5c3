mod changes;
mod determinism;
mod energy;
mod lifecycle;
mod physics;
mod random;
mod snapshots;
mod touching;
