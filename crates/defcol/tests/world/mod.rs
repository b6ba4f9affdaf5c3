mod changes;
mod determinism;
mod lifecycle;
mod physics;
mod random;
mod touching;
