package limits

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

// slack is the memory of a test beyond a reader's limit: of the runtime, the decompressor and the
// test itself, and garbage that has not been collected yet.
const slack = 24 << 20

// maxCPU is the processor time in ns that a reader may take for some bytes. Valid input takes
// milliseconds.
const maxCPU = 20e9

// Within runs f and fails the test if it took too long, or held more memory at a time than a limit
// and some slack. The memory allocated by f in total is an upper bound; if that is too large, f
// runs again, monitored, with a collector that keeps garbage low.
func Within(t testing.TB, limit uint64, f func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := CPUNS()
	f()
	if took := CPUNS() - start; took > maxCPU {
		t.Errorf("%.1f s of processor time", float64(took)/1e9)
	}
	runtime.ReadMemStats(&after)
	if after.TotalAlloc-before.TotalAlloc <= limit+slack {
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
	if peak > before.HeapAlloc+limit+slack {
		t.Errorf("%d bytes of memory were in use, %d are allowed", peak-before.HeapAlloc, limit)
	}
}
