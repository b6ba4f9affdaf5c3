#![no_main]

defcol_fuzz::reader!(Obj);
