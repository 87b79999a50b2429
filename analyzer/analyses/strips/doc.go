// Package strips shows how each rank spent equal parts of the run.
package strips
