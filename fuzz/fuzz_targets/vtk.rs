#![no_main]

defcol_fuzz::reader!(Vtk);
