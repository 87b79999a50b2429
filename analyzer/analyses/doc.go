// Package analyses lists the analyses that there are. Each is a folder below this one; package analysis says what it has.
package analyses
