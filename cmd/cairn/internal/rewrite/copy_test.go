package rewrite

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/store"
)

func TestRawRecordsAreNotCopied(t *testing.T) {
	objects := func(keys ...string) (list []store.Object) {
		for _, key := range keys {
			list = append(list, store.Object{Key: key, Size: 10})
		}
		return list
	}
	for _, trace := range []string{"trace.cairn", "run-1/trace.cairn"} {
		rest, raw := withoutSpools(objects(trace, "report/index.html", "tracer/spool/host-1-2/0.seg", "tracer/config.json"))
		assert.Equal(t, objects(trace, "report/index.html"), rest)
		assert.EqualValues(t, 20, raw)
	}
	alone := objects("tracer/spool/host-1-2/0.seg", "notes.txt")
	rest, raw := withoutSpools(alone)
	assert.Equal(t, alone, rest, "the records are all there is")
	assert.Zero(t, raw)
}
