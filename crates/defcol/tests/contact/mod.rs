mod depth;
mod edges;
mod volume;
