package main

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/stat"
)

const (
	sliceOf   = 50 * time.Millisecond // of which longer spans consist
	numbersOf = 1 << 15               // of an array: it fits into the second cache
)

// busyCPUs lets two CPUs compute the same side by side, and compares how much each of them gets
// done in spans of some lengths, by the CPU time of its thread: waits for a CPU do not count. This
// is by how much two ranks with equal work differ.
func busyCPUs(b *bench) {
	var allowed unix.CPUSet
	must(unix.SchedGetaffinity(0, &allowed))
	if allowed.Count() < 2 {
		fail("one CPU: there is nothing to compare")
	}
	n := int(time.Duration(b.number("SECONDS")) * time.Second / sliceOf)
	var done [2][]float64
	var both sync.WaitGroup
	for i, cpu := 0, 0; i < len(done); cpu++ {
		if allowed.IsSet(cpu) {
			at := &done[i]
			both.Go(func() { *at = updates(cpu, n) })
			i++
		}
	}
	both.Wait()
	for _, span := range []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second,
		2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second} {
		ratios := ratiosOf(done, int(span/sliceOf))
		if len(ratios) > 0 {
			b.row(span.String(), val("median ratio", median(ratios)),
				val("99 %", stat.Quantile(0.99, stat.Empirical, ratios, nil)), val("largest", ratios[len(ratios)-1]))
		}
	}
}

// updates returns for how many seconds a CPU updates an array, on average, in each of n slices of
// time.
func updates(cpu, n int) (seconds []float64) {
	runtime.LockOSThread() // the thread ends with this goroutine
	var set unix.CPUSet
	set.Set(cpu)
	must(unix.SchedSetaffinity(0, &set))
	x, y := make([]float64, numbersOf), make([]float64, numbersOf)
	for begin := time.Now(); len(seconds) < n; {
		times, before := 0, threadTime()
		for end := begin.Add(time.Duration(len(seconds)+1) * sliceOf); times == 0 || time.Now().Before(end); times++ {
			for i := range x {
				x[i] = x[i]*0.5 + y[i] + 1
			}
		}
		seconds = append(seconds, (threadTime()-before).Seconds()/float64(times))
	}
	return seconds
}

func threadTime() time.Duration {
	var t unix.Timespec
	must(unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t))
	return time.Duration(t.Nano())
}

// ratiosOf returns how much longer one CPU takes than the other in all spans of n slices, sorted.
func ratiosOf(seconds [2][]float64, n int) (ratios []float64) {
	for i := 0; i+n <= len(seconds[0]); i++ {
		one, other := 0.0, 0.0
		for k := i; k < i+n; k++ {
			one, other = one+seconds[0][k], other+seconds[1][k]
		}
		ratios = append(ratios, max(one, other)/min(one, other))
	}
	slices.Sort(ratios)
	return ratios
}
