// Package library writes archives with the OTF2 library (libopen-trace-format2, version 3.0).
//
// It is built with the tag otf2 only, and needs cgo and the library (Debian:
// libopen-trace-format2-dev, pkg-config). Create returns an otf2.Archive. Every event is one call
// of the library: see events.go.
package library
