package main

import (
	"bytes"
	"compress/flate"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// reference is the CPU time of one round of work on the machine that the budgets were measured on,
// without other load.
const reference = 100 * time.Millisecond

// pause is the time between two rounds of a speedometer, so that these cost about a hundredth of a
// core.
const pause = 10 * time.Second

// A speedometer measures how slow the machine is while a stage runs: virtual machines share caches,
// memory and hyperthreads with others, so that the same work takes up to twice the CPU time.
type speedometer struct {
	quit  chan struct{}
	ended chan []time.Duration
}

func startSpeedometer() *speedometer {
	s := &speedometer{make(chan struct{}), make(chan []time.Duration)}
	go func() {
		rounds := []time.Duration{work()}
		for {
			select {
			case <-s.quit:
				s.ended <- append(rounds, work())
				return
			case <-time.After(pause):
				rounds = append(rounds, work())
			}
		}
	}()
	return s
}

// stop returns the median CPU time of the rounds as a multiple of the reference.
func (s *speedometer) stop() float64 {
	close(s.quit)
	rounds := <-s.ended
	slices.Sort(rounds)
	return rounds[len(rounds)/2].Seconds() / reference.Seconds()
}

// work sorts and compresses the same numbers each time and returns the CPU time that it took.
func work() time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	random := rand.New(rand.NewPCG(1, 2))
	numbers := make([]uint32, 400_000)
	for i := range numbers {
		numbers[i] = random.Uint32N(1 << 20)
	}
	slices.Sort(numbers)
	var raw bytes.Buffer
	for _, n := range numbers {
		raw.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16)})
	}
	w, _ := flate.NewWriter(io.Discard, flate.DefaultCompression) // the level is valid
	_, _ = w.Write(raw.Bytes())
	_ = w.Close()
	return threadTime() - before
}

func threadTime() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now) // Linux has this clock
	return time.Duration(now.Nano())
}
