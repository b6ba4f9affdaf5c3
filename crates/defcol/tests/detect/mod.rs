mod bvh;
mod continuous;
mod hash;
mod ldi;
mod ldi_volume;
mod primitive;
mod proximity;
