package trace

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

// fuzzSlack is what a test may hold beyond a reader's limit: what the runtime, the decompressor and the test itself
// have, and garbage that has not been collected yet.
const fuzzSlack = 24 << 20

// within runs f and fails the test if it held more memory at a time than a limit and some slack. What f allocated in
// all bounds that from above; where it is too much, f runs again, watched, with a collector that keeps garbage low.
func within(t testing.TB, limit uint64, f func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if after.TotalAlloc-before.TotalAlloc <= limit+fuzzSlack {
		return
	}
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	runtime.GC()
	runtime.ReadMemStats(&before)
	var peak uint64
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Microsecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
		}
	})
	f()
	close(done)
	watch.Wait()
	if peak > before.HeapAlloc+limit+fuzzSlack {
		t.Errorf("%d bytes of memory were in use, %d are allowed", peak-before.HeapAlloc, limit)
	}
}

// The check finds what is too much, and only that.
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
	within(&probe, 1<<20, hold(fuzzSlack+8<<20))
	if !probe.failed {
		t.Error("too much memory was not noticed")
	}
	within(t, 32<<20, func() {
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
