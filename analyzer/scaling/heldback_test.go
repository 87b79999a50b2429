package scaling_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/scaling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// recorded is the name of a trace in the folder HELD_BACK: program, ranks, and which
// of several runs.
var recorded = regexp.MustCompile(`^([^-]+)-(\d+)(?:-(\d+))?\.cairn$`)

// BenchmarkHeldBack predicts the largest size of each program in the folder HELD_BACK from the
// others, and reports the error: of calls and bytes of each call site, and of the time of the
// longest computation.
func BenchmarkHeldBack(b *testing.B) {
	folder := os.Getenv("HELD_BACK")
	if folder == "" {
		b.Skip("HELD_BACK names no folder with traces: make bench-scale-unseen makes one")
	}
	files, err := os.ReadDir(folder)
	require.NoError(b, err)
	programs := map[string]map[int][]string{}
	for _, f := range files {
		if name := recorded.FindStringSubmatch(f.Name()); name != nil {
			ranks, err := strconv.Atoi(name[2])
			require.NoError(b, err)
			if programs[name[1]] == nil {
				programs[name[1]] = map[int][]string{}
			}
			programs[name[1]][ranks] = append(programs[name[1]][ranks], filepath.Join(folder, f.Name()))
		}
	}
	for name, sizes := range programs {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				heldBack(b, sizes)
			}
		})
	}
}

func heldBack(b *testing.B, files map[int][]string) {
	b.Helper()
	var all, known []scaling.Recording
	largest := 0
	for ranks := range files {
		largest = max(largest, ranks)
	}
	for ranks, list := range files {
		for _, file := range list {
			r := opened(b, file)
			all = append(all, r)
			if ranks < largest {
				known = append(known, r)
			}
		}
	}
	predicted, measured := analyzed(b, known, largest), analyzed(b, all, largest)
	truth := map[string]scaling.Measured{}
	for _, r := range measured.Regions {
		if m := r.Measured[len(r.Measured)-1]; m.Ranks == largest {
			truth[r.What+r.Name] = m
		}
	}
	var calls, bytes predictions
	sites := 0
	for _, r := range predicted.Regions {
		m, there := truth[r.What+r.Name]
		if r.What != "mpi" || !there {
			continue
		}
		sites++
		calls.add(r.Calls.Model, r.Predicted[0].Calls, &m.Calls)
		bytes.add(r.Bytes.Model, r.Predicted[0].Bytes, m.Bytes)
	}
	b.ReportMetric(float64(len(files)-1), "sizes")
	b.ReportMetric(float64(largest), "held-back")
	b.ReportMetric(float64(sites), "sites")
	b.ReportMetric(float64(calls.exact), "call-models")
	b.ReportMetric(float64(calls.right), "calls-right")
	b.ReportMetric(float64(bytes.exact), "byte-models")
	b.ReportMetric(float64(bytes.right), "bytes-right")
	b.ReportMetric(float64(len(calls.off)+len(bytes.off)), "approximate")
	b.ReportMetric(100*worst(append(calls.off, bytes.off...)), "%approximate-worst")
	// the computation that takes longest: of ranks that share processors, only one that sleeps
	// takes the time it should
	var longest scaling.Region
	for _, r := range predicted.Regions {
		if m := truth[r.What+r.Name]; r.What == "computation" && m.Seconds > truth[longest.What+longest.Name].Seconds {
			longest = r
		}
	}
	if longest.Seconds.Model != nil {
		b.ReportMetric(100*(longest.Predicted[0].Seconds/truth[longest.What+longest.Name].Seconds-1), "%time-off")
	}
}

// predictions are those of calls or of bytes.
type predictions struct {
	exact, right int       // models that say they are exact, and those that are
	off          []float64 // relative errors of the others
}

func (p *predictions) add(m *scaling.Model, predicted, truth *float64) {
	if predicted == nil || truth == nil || *truth == 0 {
		return
	}
	off := math.Abs(*predicted / *truth - 1)
	switch {
	case !m.Exact:
		p.off = append(p.off, off)
	case off < 1e-6:
		p.right++
		fallthrough
	default:
		p.exact++
	}
}

func worst(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return slices.Max(list)
}

func opened(b *testing.B, file string) scaling.Recording {
	b.Helper()
	f, err := os.Open(file)
	require.NoError(b, err)
	b.Cleanup(func() { f.Close() })
	about, err := f.Stat()
	require.NoError(b, err)
	r, err := trace.Open(f, about.Size())
	require.NoError(b, err)
	return scaling.Recording{Trace: timeline.Of(r), Name: filepath.Base(file)}
}
