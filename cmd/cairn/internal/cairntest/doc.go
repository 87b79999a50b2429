// Package cairntest runs command lines of cairn in tests, in the process of the test or in one of their own. Tests in the
// packages of commands are external ones (package x_test) where they use it.
package cairntest
