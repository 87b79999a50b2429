package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

func TestExecutions(t *testing.T) {
	e, err := limits{seconds: 60}.execute(t.Context(), exec.Command("sh", "-c", "echo out; echo err >&2; exit 3"))
	require.NoError(t, err)
	assert.Equal(t, 3, e.Code)
	prefix := filepath.Join(t.TempDir(), "e")
	require.NoError(t, e.save(prefix))
	again, err := loadExecution(prefix)
	require.NoError(t, err)
	assert.Equal(t, e, again)
	assert.Equal(t, "out\n", again.stdout)
	assert.Equal(t, "err\n", again.stderr)

	e, err = limits{seconds: 60}.execute(t.Context(), exec.Command("sh", "-c", "kill -SEGV $$"))
	require.NoError(t, err)
	assert.Equal(t, 139, e.Code)
	_, err = limits{seconds: 60}.execute(t.Context(), exec.Command("no-such-command"))
	assert.Error(t, err)
}

func TestLimits(t *testing.T) {
	e, err := limits{seconds: 0.2}.execute(t.Context(), exec.Command("sleep", "60"))
	require.NoError(t, err)
	assert.Contains(t, e.Killed, "killed after")
	e, err = limits{seconds: 60, mib: 0.01}.execute(t.Context(), exec.Command("sleep", "60"))
	require.NoError(t, err)
	assert.Contains(t, e.Killed, "MiB")
}

func TestSlicesOfPerfetto(t *testing.T) {
	event := func(kind, track uint64) []byte {
		e := protowire.AppendVarint(protowire.AppendTag(nil, eventType, protowire.VarintType), kind)
		e = protowire.AppendVarint(protowire.AppendTag(e, trackNumber, protowire.VarintType), track)
		// a time stamp
		p := protowire.AppendVarint(protowire.AppendTag(nil, 8, protowire.VarintType), 1000)
		p = protowire.AppendBytes(protowire.AppendTag(p, trackEvent, protowire.BytesType), e)
		return protowire.AppendBytes(protowire.AppendTag(nil, tracePacket, protowire.BytesType), p)
	}
	join := func(events ...[]byte) (all []byte) {
		for _, e := range events {
			all = append(all, e...)
		}
		return all
	}
	begin, end, other := event(sliceBegin, 1), event(sliceEnd, 1), event(sliceEnd, 2)
	n, err := countSlices(join(begin, begin, end, end))
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	for _, bad := range [][]byte{begin, join(begin, other), join(end, begin), begin[:len(begin)-1]} {
		_, err := countSlices(bad)
		assert.Error(t, err)
	}
}
