// Package version names the build that wrote a file.
package version

// Version of Cairn, set by the linker.
var Version = "dev"
