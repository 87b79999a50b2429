// Package export is `cairn export`: one file for each format, named after it, with an exporter that is listed in
// export.go. OTF2 needs a C library, and so a build of its own (tag otf2).
package export
