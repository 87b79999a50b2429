// Package export is `cairn export`. Each format has a file that is named for it, with an exporter
// that is listed in export.go. OTF2 needs a C library, and therefore a separate build (tag otf2).
package export
