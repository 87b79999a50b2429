// Package symbols maps offsets in a binary to functions, files and lines, without
// the binary at hand.
//
// Extract reads an executable or shared library, by its path or, from another container, by open
// files (package resolver). Its result is a table, one JSON file per build id, in which the shipper
// looks call sites up. Functions, lines and inlined code come from DWARF; without DWARF, function
// names come from the ELF symbol table. An offset counts from the lowest mapped address of the
// binary, as trace.Site.Offset does, so position-independent code needs no special treatment.
package symbols
