// Package outliers finds ranks that compute longer than the others.
//
// Its input is the accounts of all ranks. Ranks are compared by several measures of their
// computation, in all regions or in some, among all ranks and within each role. Its results are
// sets of ranks that stand out in a statistical test (outliers.go), with the mean of the others.
package outliers
