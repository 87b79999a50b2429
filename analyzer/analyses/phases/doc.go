// Package phases finds the phases of a run. The method is in package analyzer/phases.
package phases
