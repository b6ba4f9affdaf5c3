mod depth;
mod edges;
mod near;
mod volume;
