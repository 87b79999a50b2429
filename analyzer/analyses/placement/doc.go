// Package placement shows on which nodes ranks run, and a better placement. The method is in
// package analyzer/placement.
package placement
