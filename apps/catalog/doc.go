// Package catalog has the programs of apps/programs.txt as others run them: their packages, inputs
// and commands. What must hold for their output and their reports is known to command apps alone.
package catalog
