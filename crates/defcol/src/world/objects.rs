//! Colliders, magnets, draggers, and the detection method of single pairs.

use super::{BodyId, ColliderId, Detection, Dragger, DraggerId, MagnetId, World};
use crate::error::{InvalidRequest, WorldError};
use crate::math::Real;
use crate::response::{Collider, Field};

impl<R: Real> World<R> {
    /// Adds a static collider.
    ///
    /// # Errors
    /// If one of its numbers cannot be used, here and in [`World::set_collider`].
    pub fn add_collider(&mut self, collider: Collider<R>) -> Result<ColliderId, WorldError> {
        check(collider.is_valid(), InvalidRequest::Collider)?;
        Ok(self.scene.colliders.insert(collider))
    }

    /// Replaces a collider, for example to move it.
    pub fn set_collider(
        &mut self,
        id: ColliderId,
        collider: Collider<R>,
    ) -> Result<(), WorldError> {
        check(collider.is_valid(), InvalidRequest::Collider)?;
        *self.scene.colliders.get_mut(id)? = collider;
        Ok(())
    }

    /// Removes a collider.
    pub fn remove_collider(&mut self, id: ColliderId) -> Result<(), WorldError> {
        self.scene.colliders.remove(id)?;
        // The impulses of the last step know colliders by their index.
        self.scene.restart_xpbd();
        Ok(())
    }

    /// Adds a magnet.
    ///
    /// # Errors
    /// If one of its numbers cannot be used, here and in [`World::set_magnet`].
    pub fn add_magnet(&mut self, magnet: Field) -> Result<MagnetId, WorldError> {
        check(magnet.is_valid(), InvalidRequest::Magnet)?;
        Ok(self.scene.magnets.insert(magnet))
    }

    /// Replaces a magnet.
    pub fn set_magnet(&mut self, id: MagnetId, magnet: Field) -> Result<(), WorldError> {
        check(magnet.is_valid(), InvalidRequest::Magnet)?;
        *self.scene.magnets.get_mut(id)? = magnet;
        Ok(())
    }

    /// Removes a magnet.
    pub fn remove_magnet(&mut self, id: MagnetId) -> Result<(), WorldError> {
        self.scene.magnets.remove(id).map(|_| ())
    }

    /// Adds a dragger.
    ///
    /// # Errors
    /// If it names a body or vertex that does not exist, or has a number that cannot be used, here and in
    /// [`World::set_dragger`].
    pub fn add_dragger(&mut self, dragger: Dragger) -> Result<DraggerId, WorldError> {
        self.check_dragger(&dragger)?;
        Ok(self.scene.draggers.insert(dragger))
    }

    /// Replaces a dragger, for example to move its goal.
    pub fn set_dragger(&mut self, id: DraggerId, dragger: Dragger) -> Result<(), WorldError> {
        self.check_dragger(&dragger)?;
        *self.scene.draggers.get_mut(id)? = dragger;
        Ok(())
    }

    /// Removes a dragger.
    pub fn remove_dragger(&mut self, id: DraggerId) -> Result<(), WorldError> {
        self.scene.draggers.remove(id).map(|_| ())
    }

    /// Chooses the detection method of two bodies, or of one with itself; `None` restores that of the parameters.
    pub fn set_detection(
        &mut self,
        pair: [BodyId; 2],
        detection: Option<Detection>,
    ) -> Result<(), WorldError> {
        let pair = self.ordered(pair)?;
        self.scene.detection.retain(|(other, _)| *other != pair);
        if let Some(detection) = detection {
            self.scene.detection.push((pair, detection));
        }
        Ok(())
    }

    /// Detection method of two bodies, or of one with itself.
    pub fn detection(&self, pair: [BodyId; 2]) -> Result<Detection, WorldError> {
        let pair = self.ordered(pair)?;
        let own = self.scene.detection.iter().find(|(other, _)| *other == pair);
        Ok(own.map_or(self.scene.parameters.detection, |(_, detection)| *detection))
    }

    fn ordered(&self, [a, b]: [BodyId; 2]) -> Result<[BodyId; 2], WorldError> {
        self.index(a)?;
        self.index(b)?;
        Ok([a.min(b), a.max(b)])
    }

    fn check_dragger(&self, dragger: &Dragger) -> Result<(), WorldError> {
        for (body, own) in dragger.ends() {
            let vertices = self.range(body)?.len();
            if let Some(&vertex) = own.iter().find(|&&vertex| vertex as usize >= vertices) {
                return Err(WorldError::NoSuchVertex { body: body.number(), vertex, vertices });
            }
        }
        check(dragger.is_valid(), InvalidRequest::Dragger)
    }
}

fn check(valid: bool, error: InvalidRequest) -> Result<(), WorldError> {
    if valid { Ok(()) } else { Err(error.into()) }
}
