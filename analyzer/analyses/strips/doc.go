// Package strips shows how each rank spent equal intervals of the run.
package strips
