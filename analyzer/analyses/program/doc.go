// Package program writes the calls of all ranks as one program text. The method is in package
// analyzer/program.
package program
