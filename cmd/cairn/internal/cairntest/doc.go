// Package cairntest runs command lines of cairn in tests, in the process of the test or in a
// separate one. Tests in the packages of commands must be external (package x_test) to use it.
package cairntest
