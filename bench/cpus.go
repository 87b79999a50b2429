package main

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
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
			both.Go(func() { *at = speeds(cpu, n) })
			i++
		}
	}
	both.Wait()
	for _, span := range []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second,
		2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second} {
		ratios := ratiosOf(done, int(span/sliceOf))
		if len(ratios) > 0 {
			b.row(span.String(), val("median ratio", quantile(ratios, 0.5)),
				val("99 %", quantile(ratios, 0.99)), val("largest", quantile(ratios, 1)))
		}
	}
}

// speeds returns how often a CPU updates an array in each of some slices of time, by CPU time.
func speeds(cpu, n int) (perSecond []float64) {
	runtime.LockOSThread() // the thread ends with this goroutine
	var set unix.CPUSet
	set.Set(cpu)
	must(unix.SchedSetaffinity(0, &set))
	x, y := make([]float64, numbersOf), make([]float64, numbersOf)
	for begin := time.Now(); len(perSecond) < n; {
		times, before := 0, threadTime()
		for end := begin.Add(time.Duration(len(perSecond)+1) * sliceOf); times == 0 || time.Now().Before(end); times++ {
			for i := range x {
				x[i] = x[i]*0.5 + y[i] + 1
			}
		}
		perSecond = append(perSecond, float64(times)/(threadTime()-before).Seconds())
	}
	return perSecond
}

func threadTime() time.Duration {
	var t unix.Timespec
	must(unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t))
	return time.Duration(t.Nano())
}

// ratiosOf returns the larger speed divided by the smaller one in all spans of n slices, sorted.
func ratiosOf(speeds [2][]float64, n int) (ratios []float64) {
	for i := 0; i+n <= len(speeds[0]); i++ {
		one, other := 0.0, 0.0
		for k := i; k < i+n; k++ {
			one, other = one+1/speeds[0][k], other+1/speeds[1][k]
		}
		ratios = append(ratios, max(one, other)/min(one, other))
	}
	slices.Sort(ratios)
	return ratios
}

func quantile(sorted []float64, q float64) float64 {
	return sorted[int(q*float64(len(sorted)-1))]
}
