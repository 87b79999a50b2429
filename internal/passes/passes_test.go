package passes_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// log is a watcher that remembers passes.
type log struct {
	mu           sync.Mutex
	begun, ended []*passes.Pass
}

func (l *log) Begin(p *passes.Pass) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = append(l.begun, p)
}

func (l *log) End(p *passes.Pass) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, p)
}

func TestNobodyWatches(t *testing.T) {
	_, p, end := passes.Calls(t.Context(), 10)
	p.Add(3)
	p.At(1, 2)
	end()
	assert.Nil(t, p)
}

func TestCounting(t *testing.T) {
	l := new(log)
	ctx, p, end := passes.Begin(passes.Watch(t.Context(), l), "merging", "traces", 10)
	assert.Same(t, p, passes.Of(ctx))
	p.Add(4)
	assert.EqualValues(t, 4, p.Done())
	p.Add(40)
	assert.EqualValues(t, 10, p.Done(), "no more than all")
	p.At(1, 4)
	assert.EqualValues(t, 2, p.Done())
	end()
	assert.Equal(t, []*passes.Pass{p}, l.ended)
}

// The passes of the analyses know how many calls the trace has, and those that count call by call
// come to that number.
func TestAnalysesCountAllCalls(t *testing.T) {
	r := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{Pattern: "ring", Ranks: 6, Iterations: 50}))
	l := new(log)
	_, _, err := analyzer.Run(passes.Watch(context.Background(), l), r, nil)
	assert.NoError(t, err)
	names := map[string]bool{}
	for _, p := range l.begun {
		names[p.Name] = true
		assert.Equal(t, r.Threads().Calls(), p.Total, p.Name)
		if p.Name == "matching calls" || p.Name == "adding up times" {
			assert.Equal(t, p.Total, p.Done(), p.Name)
		}
	}
	assert.Subset(t, names, map[string]bool{"matching calls": true, "adding up times": true, "replaying calls": true, "following delays": true})
	assert.Len(t, l.ended, len(l.begun))
}
