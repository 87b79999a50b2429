// Package phases tells the phases of a run. The method is that of package analyzer/phases.
package phases
