// Package storage opens what commands read and write according to the flags and the environment of
// a command line: directories, S3 buckets, and the objects and files in them. Objects and files are
// written completely or not at all.
package storage
