// Package version has the version of the build, which is written into files.
package version

// Version of Cairn, set by the linker.
var Version = "dev"
