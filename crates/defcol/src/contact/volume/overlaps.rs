use super::VolumeContact;
use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::state::Bodies;

/// Overlapping volumes of several pairs of bodies; those of earlier calls lend their buffers.
#[derive(Debug, Default)]
pub(crate) struct OverlapVolumes {
    list: Vec<VolumeContact>,
    used: usize,
}

impl OverlapVolumes {
    /// Forgets all volumes.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// The volumes that are not zero, in the order in which they were measured.
    pub fn as_slice(&self) -> &[VolumeContact] {
        &self.list[..self.used]
    }

    /// Measures the overlap of a pair and keeps it if there is any.
    pub fn measure<R: Real>(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        pair: [u32; 2],
        resolution: u32,
    ) -> Result<(), DetectError> {
        if self.list.len() == self.used {
            self.list.push(VolumeContact::default());
        }
        let volume = &mut self.list[self.used];
        volume.pair(bodies, positions, pair, resolution)?;
        self.used += usize::from(volume.volume().value > 0.0);
        Ok(())
    }
}
