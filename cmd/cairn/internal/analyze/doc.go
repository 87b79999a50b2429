// Package analyze has the commands analyze and report, for one trace and (--job) for the runs of a TracedMPIJob in its
// storage.
//
// For a job, analyze leaves the findings of one analysis beside each trace, and report makes of them the reports of all
// runs, the list of runs and the page that leads to them. Package messages says how the objects are named.
package analyze
