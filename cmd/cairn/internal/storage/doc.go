// Package storage opens what commands read and write by the flags and the environment of a command line: directories
// and S3 buckets, and objects and files in them, which are written whole or not at all.
package storage
