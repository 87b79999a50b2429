// Package program writes what all ranks do as one text: package analyzer/program has the method.
package program
