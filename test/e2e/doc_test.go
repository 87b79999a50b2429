//go:build e2e

// Package e2e runs TracedMPIJobs on a real cluster, as a user does: through kubectl, with the chart
// installed and results read from the bucket. hack/e2e.sh brings up the local cluster and runs it.
package e2e
