package callsite_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/trace"
)

func TestNames(t *testing.T) {
	for name, c := range map[string]struct {
		site             trace.Site
		name, inFunction string
	}{
		"line":        {trace.Site{Module: "lu", Offset: 0x12, Function: "rhs_", File: "/src/rhs.f", Line: 7}, "rhs.f:7", "rhs.f:7"},
		"no line":     {trace.Site{Module: "lu", Offset: 0x3f2a, Function: "rhs_"}, "rhs_ in lu+0x3f2a", "rhs_ in lu"},
		"no function": {trace.Site{Module: "lu", Offset: 0x3f2a}, "lu+0x3f2a", "lu+0x3f2a"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.name, callsite.Name(&c.site))
			assert.Equal(t, c.inFunction, callsite.InFunction(&c.site))
		})
	}
}

// People read short names; what is short stays.
func TestShort(t *testing.T) {
	long := "ns::Field<ns::Box<double, ns::Allocator<double, 64>, ns::Policy>, 3>::exchange in libfield.so.1+0x3f2a"
	short := "ns::Field<ns::Box<…>, 3>::exchange in libfield.so.1+0x3f2a"
	between := "between MPI_Send at " + short + " and MPI_Recv at " + short
	for name, want := range map[string]string{
		"rhs.f:7": "rhs.f:7", "lu+0x3f2a": "lu+0x3f2a", "rhs_ in lu+0x3f2a": "rhs_ in lu+0x3f2a", "": "", between: between, long: short,
	} {
		assert.Equal(t, want, callsite.Short(name))
	}
	assert.Equal(t, "MPI_Send at "+short, callsite.At("MPI_Send", long))
	assert.Equal(t, "MPI_Send", callsite.At("MPI_Send", ""))
}
