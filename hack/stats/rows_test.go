package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tables of testdata were made by the awk and Python programs that the scripts used before.
func TestTablesOfBenchmarksAreThoseOfTheScripts(t *testing.T) {
	for name, table := range map[string]func(*strings.Builder) error{
		"clustering": func(b *strings.Builder) error {
			all, err := readFile("testdata/clustering.txt", 3, clusteringNumbers, clusteringNumbers)
			require.NoError(t, err)
			return printClustering(b, all)
		},
		"rates": func(b *strings.Builder) error {
			all, err := readBenchmarkFile("testdata/rates.txt")
			require.NoError(t, err)
			require.ErrorIs(t, printRates(b, all), errMissed)
			require.ErrorContains(t, printRates(&strings.Builder{}, all[:3]), "fewer than 12")
			return nil
		},
		"held-back": func(b *strings.Builder) error {
			all, err := readBenchmarkFile("testdata/held-back.txt")
			require.NoError(t, err)
			require.ErrorIs(t, printHeldBack(b, all), errMissed)
			require.ErrorIs(t, printHeldBack(&strings.Builder{}, nil), errMissed)
			return nil
		},
		"decode": func(b *strings.Builder) error {
			all, err := readBenchmarkFile("testdata/decode.txt")
			require.NoError(t, err)
			printDecode(b, all)
			return nil
		},
		"timing": func(b *strings.Builder) error {
			all, err := readBenchmarkFile("testdata/timing.txt")
			require.NoError(t, err)
			require.ErrorContains(t, printTiming(&strings.Builder{}, nil), "no benchmarks")
			return printTiming(b, all)
		},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile("testdata/" + name + ".golden")
			require.NoError(t, err)
			var got strings.Builder
			require.NoError(t, table(&got))
			assert.Equal(t, string(want), got.String())
		})
	}
}

func TestRows(t *testing.T) {
	used := func(wall, cpu, kib, files float64) measurement {
		return measurement{numbers: []float64{wall, cpu, kib, files}}
	}
	for want, row := range map[string]func(*strings.Builder){
		"    16      1000000         2.50       0.52 (missed)      146               123              1.18              0.33\n": func(b *strings.Builder) {
			printAnalyze(b, 16, 1e6, usage{0.4, 0.52, 150000, 123456789}, 1234567, 345678)
		},
		"   256   1000000000         2.00       0.70 (missed)     2930 (missed)     6000 (missed)     3.81 (missed)     0.33\n": func(b *strings.Builder) {
			printAnalyze(b, 256, 1e9, usage{500, 700, 3000000, 6e9}, 4000000, 345678)
		},
		" 16384      1000000         0.67       2.50              1465 (missed)        0              1.18              0.33\n": func(b *strings.Builder) {
			printAnalyze(b, 16384, 1e6, usage{1.5, 2.5, 1500000, 0}, 1234567, 345678)
		},
		"ring 1024              at once          12.340       12.300    +0.33%  met\n":    func(b *strings.Builder) { printSimgrid(b, "ring 1024", "at once", 0.5, 0.01234, 0.0123) },
		"ring 1024              handshake        12.340       15.300   -19.35%  \n":       func(b *strings.Builder) { printSimgrid(b, "ring 1024", "handshake", 0, 0.01234, 0.0153) },
		"ring 1024              at once          12.340       15.300   -19.35%  MISSED\n": func(b *strings.Builder) { printSimgrid(b, "ring 1024", "at once", 0.5, 0.01234, 0.0153) },
		"stencil2d         16384     256      1000000     3.00     1.80       250         4096        20  2 s, 256 MiB: pass\n": func(b *strings.Builder) {
			printMerge(b, "stencil2d", "16384", []float64{256, 1e6, 1.8, 4096}, []measurement{used(1, 1, 1000, 0), used(1, 2, 256000, 0)}, []measurement{used(1, 1, 20480, 0)})
		},
		"stencil2d         16384     256      1000000     3.00     2.80       250         4096        20  2 s, 256 MiB: miss by the clock; half of the CPU time would pass\n": func(b *strings.Builder) {
			printMerge(b, "stencil2d", "16384", []float64{256, 1e6, 2.8, 4096}, []measurement{used(3, 3, 256000, 0)}, []measurement{used(1, 1, 20480, 0)})
		},
		"openmpi  Iprobe               lossy            10       30\n": func(b *strings.Builder) {
			printInstructions(b, "openmpi", "Iprobe", "lossy", 100, []float64{10, 100, 110, 1100, 20, 200, 1120, 4200})
		},
	} {
		var got strings.Builder
		row(&got)
		assert.Equal(t, want, got.String())
	}
}

func TestLanguages(t *testing.T) {
	of := []map[string][]float64{{"held": {10, 30, 20}}, {"held": {21, 22, 23}}, {"held": {40}}, {"held": {100}}}
	var row strings.Builder
	require.NoError(t, printFortran(&row, "mpich", []string{"held"}, of))
	assert.Equal(t, "mpich    held                      20.0       2.0      40.0      60.0           58.0\n", row.String())
	of[0]["released"], of[1]["released"], of[2]["released"] = []float64{1}, []float64{2}, []float64{203}
	row.Reset()
	require.NoError(t, printPython(&row, of[:3]))
	assert.Equal(t, "held             20.0       22.0       40.0               18.0  target <= 200: pass\n"+
		"released          1.0        2.0      203.0              201.0  target <= 200: miss\n", row.String())
	delete(of[0], "released")
	assert.ErrorContains(t, printPython(&row, of[:3]), "file 1 has nothing of released")
}

func TestHistogramRow(t *testing.T) {
	const said = "compared with the whole trace: calls by function off by 0%, bytes by 0%, time by 0%, time of the run by 0%; " +
		"the middle of durations of a call by 3.5%, the communication matrix (relative L1 error 0.02)\n"
	var row strings.Builder
	require.NoError(t, printHistogram(&row, "random, 16 ranks, ×10", 100000, 1040, 1000, 1.1, said))
	assert.Equal(t, "random, 16 ranks, ×10          100000     1040   1.040    ≤ 1.1  sums exact; middle of durations 3.5% (≤ 25%); matrix 0.02  pass\n", row.String())
	for _, miss := range []struct {
		most float64
		said string
	}{{1.03, said}, {1.1, strings.Replace(said, "bytes by 0%", "bytes by 1%", 1)}, {1.1, strings.Replace(said, "3.5%", "26%", 1)}, {1.1, ""}} {
		require.ErrorIs(t, printHistogram(&row, "x", 100000, 1040, 1000, miss.most, miss.said), errMissed)
	}
}

func TestClusteredRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plain": "1.50 0.50\n", "cpu": "a line\n2.00 0.20\n", "leads": "by replay: ACC 97.5%, by …\n",
		"info": `{"calls":1000,"bytes":{"timing":1500},"clustering":{"votes":4,"ns_per_vote":2500,"vote_share":0.01,"calls_extrapolated":250,"clusterings":2}}`,
	} {
		require.NoError(t, os.WriteFile(dir+"/"+name, []byte(text), 0o600))
	}
	n, err := clusteredRun(dir)
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float64{1.1, 1.5, 4, 2.5, 0.01, 0.25, 2, 0.975}, n[:], 1e-12)
	require.NoError(t, os.WriteFile(dir+"/leads", nil, 0o600))
	_, err = clusteredRun(dir)
	assert.ErrorContains(t, err, "no ACC")
}

func TestUsage(t *testing.T) {
	u, err := measure([]string{"sleep", "0.5"}, "cairn-test-")
	require.NoError(t, err)
	assert.GreaterOrEqual(t, u.wall, 0.5)
	assert.Less(t, u.cpu, 0.5)
	assert.Positive(t, u.memory)
	_, err = measure([]string{"sh", "-c", "echo no >&2; exit 3"}, "")
	assert.ErrorContains(t, err, "exit status 3: no")
}

func TestTemporaryFilesCount(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "cairn-test-")
	require.NoError(t, err)
	defer file.Close()
	_, err = file.WriteString("twelve bytes")
	require.NoError(t, err)
	require.NoError(t, os.Remove(file.Name()))
	assert.EqualValues(t, 12, openFiles(os.Getpid(), "cairn-test-"))
}

func TestField(t *testing.T) {
	for keys, want := range map[string]string{"run.predicted_seconds": "0.0125\n", "levels": "4 1\n", "run.none": "\n", "none.x": "\n"} {
		var got strings.Builder
		require.NoError(t, printField(&got, strings.NewReader(`{"run":{"predicted_seconds":0.0125},"levels":[4,1]}`), keys))
		assert.Equal(t, want, got.String())
	}
	assert.Error(t, printField(&strings.Builder{}, strings.NewReader(""), "x"))
}
