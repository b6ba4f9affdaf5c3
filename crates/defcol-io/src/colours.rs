/// Colours of bodies in order, repeated from the ninth body on: used by pictures, coloured PLY files, GLB animations and
/// POV-Ray scenes.
pub const COLOURS: [[u8; 3]; 8] = [
    [222, 122, 92],
    [98, 148, 190],
    [150, 178, 98],
    [228, 182, 90],
    [160, 124, 180],
    [96, 176, 166],
    [206, 130, 160],
    [168, 152, 130],
];
