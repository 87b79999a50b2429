package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/internal/passes"
)

// meter returns a progress meter that is updated by the test.
func meter(terminal bool) (*progressMeter, *bytes.Buffer) {
	out := new(bytes.Buffer)
	return &progressMeter{out: out, terminal: terminal}, out
}

// 400 of 1000 calls in 2 s are 200 a second: the other 600 take 3 s.
func TestLineOfProgress(t *testing.T) {
	p := &passes.Pass{Name: "matching calls", Unit: "calls", Total: 1000}
	p.Add(400)
	assert.Equal(t, "matching calls: 40% of 1000 calls, 200 calls/s, about 3.0 s left", progressLine(p, 2*time.Second))
	unknown := &passes.Pass{Name: "reading calls", Unit: "calls"}
	unknown.Add(400)
	assert.Equal(t, "reading calls: 400 calls, 200 calls/s", progressLine(unknown, 2*time.Second))
	assert.Equal(t, "x: 0% of 5 ranks, 0 ranks/s", progressLine(&passes.Pass{Name: "x", Unit: "ranks", Total: 5}, time.Second))
}

// Elsewhere than on a terminal there is a line at once when the work takes long, and then
// one in ten seconds.
func TestLinesOfProgress(t *testing.T) {
	m, out := meter(false)
	p := &passes.Pass{Name: "matching calls", Unit: "calls", Total: 1000}
	m.Begin(p)
	begun := time.Now()
	for at := time.Duration(0); at <= 25*time.Second; at += barInterval {
		m.show(begun.Add(at))
	}
	// at about 1.6, 11.6 and 21.6 s
	assert.Equal(t, 3, strings.Count(out.String(), "\n"), out.String())
	assert.NotContains(t, out.String(), "\r")
	m.End(p)
	m.show(begun.Add(time.Minute))
	assert.Equal(t, 3, strings.Count(out.String(), "\n"))
}

// On a terminal there is a bar, which is gone when the pass is over; short passes show nothing.
func TestBarOfProgress(t *testing.T) {
	m, out := meter(true)
	p := &passes.Pass{Name: "matching calls", Unit: "calls", Total: 1000}
	m.Begin(p)
	m.show(time.Now().Add(time.Second))
	assert.Empty(t, out.String())
	p.Add(400)
	m.show(time.Now().Add(2 * time.Second))
	assert.Contains(t, out.String(), "matching calls  40%")
	assert.Contains(t, out.String(), "calls/s")
	m.End(p)
	assert.True(t, strings.HasSuffix(out.String(), "\x1b[2K\r"), "%q", out.String())
}

// The pass that was begun last is shown, and when it is over the one before.
func TestPassWithinPass(t *testing.T) {
	m, out := meter(false)
	outer := &passes.Pass{Name: "outer", Unit: "calls", Total: 10}
	inner := &passes.Pass{Name: "inner", Unit: "calls", Total: 10}
	m.Begin(outer)
	m.Begin(inner)
	m.show(time.Now().Add(time.Minute))
	m.End(inner)
	m.show(time.Now().Add(2 * time.Minute))
	assert.Regexp(t, `(?s)inner.*outer`, out.String())
}
