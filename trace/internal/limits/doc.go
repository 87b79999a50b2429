// Package limits is for tests: it fails those that take more memory or processor time than they
// may, and reports the processor time of benchmarks.
package limits
