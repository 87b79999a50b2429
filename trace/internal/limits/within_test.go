package limits

import (
	"runtime"
	"testing"
	"time"
)

// The check finds excessive use, and only that.
func TestWithin(t *testing.T) {
	hold := func(n int) func() {
		return func() {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(i)
			}
			time.Sleep(5 * time.Millisecond)
			runtime.KeepAlive(b)
		}
	}
	var probe probeT
	Within(&probe, 1<<20, hold(slack+8<<20))
	if !probe.failed {
		t.Error("too much memory was not noticed")
	}
	Within(t, 32<<20, func() {
		for range 10 {
			hold(16 << 20)()
		}
	})
}

type probeT struct {
	testing.TB
	failed bool
}

func (p *probeT) Errorf(string, ...any) { p.failed = true }
