// Package analyze has the commands analyze and report, for a single trace and (with --job) for the
// runs of a TracedMPIJob in its storage.
//
// For a job, analyze writes the findings of one analysis beside each trace. From these, report
// makes the reports of all runs, the list of runs and the page that links to them. Package messages
// defines the names of the objects.
package analyze
