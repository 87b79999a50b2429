// Package library writes archives with the OTF2 library (libopen-trace-format2, version 3.0).
//
// It is built with the tag otf2 only, which needs cgo and the library (Debian: libopen-trace-format2-dev, pkg-config).
// Create gives an otf2.Archive. Every event is one call of the library; which one, events.go says.
package library
