package verify

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A callback is compared with every binary that was at its address, and with no other.
func TestFunctionsByBinary(t *testing.T) {
	p := &process{Modules: []record.Module{
		{Path: "/bin/app", BuildID: "aa", Base: 0x1000, Limit: 0x2000},
		{Path: "/lib/first.so", BuildID: "bb", Base: 0x8000, Limit: 0x9000},
		{Path: "/lib/second.so", Base: 0x8000, Limit: 0xa000}, // without a build id, where the first one was
	}}
	for _, at := range []struct {
		site    trace.Site
		address int64
		want    bool
	}{
		{trace.Site{BuildID: "aa", Offset: 0x11}, 0x1010, true},
		{trace.Site{BuildID: "aa", Offset: 0x10}, 0x1010, false},
		{trace.Site{BuildID: "bb", Offset: 0x11}, 0x8010, true},
		{trace.Site{BuildID: "/lib/second.so", Offset: 0x11}, 0x8010, true},
		{trace.Site{BuildID: "/lib/second.so", Offset: 0x1011}, 0x9010, true},
		{trace.Site{BuildID: "bb", Offset: 0x1011}, 0x9010, false}, // beyond its end
		{trace.Site{BuildID: "aa", Offset: 0x11}, 0x8010, false},
	} {
		c := &comparison{match: &match{process: p, sites: []trace.Site{at.site}}}
		assert.Equal(t, at.want, c.isFunction(trace.Value{Form: trace.Code, Int: 1}, at.address), "%+v", at)
	}
}
