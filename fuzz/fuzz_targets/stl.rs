#![no_main]

defcol_fuzz::reader!(Stl);
