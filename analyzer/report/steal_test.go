package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
)

// The report warns once of steal everywhere, and of no other.
func TestWarningOfSteal(t *testing.T) {
	f := &cpus.Findings{CPUs: &cpus.CPUs{Machines: []cpus.Machine{{Name: "n0", Share: 0.3}, {Name: "n1", Share: 0.099}}}}
	r := &Report{}
	r.Put(f)
	assert.Empty(t, r.warnings())
	f.CPUs.StolenEverywhere = true
	require.Len(t, r.warnings(), 1)
	assert.Contains(t, r.warnings()[0], "it took at least 9% of the time")
}
