// Package symbols says to which function, file and line of a binary an
// offset belongs, without the binary being at hand.
//
// In goes an executable or shared library, where it is (inside the
// application's container); out comes a table, one JSON file per build id,
// that the shipper looks call sites up in. Functions and lines come from
// DWARF, which also says what was inlined where; function names from the ELF symbol table where there is none. An
// offset counts from the lowest mapped address of the binary, as
// trace.Site.Offset does, so position-independent code needs no special care.
package symbols
