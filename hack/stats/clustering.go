package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"
)

// Targets of clustering while a program runs.
const (
	maxVoteShare    = 0.05 // of the time of all ranks
	minAccuracy     = 0.95 // ACC of the leads of the full run
	minSavedOf4     = 0.3  // of timing bytes, with 4 ranks, for the program with two phases
	minSaved        = 0.55 // with more ranks
	wantClusterings = 2
)

// Numbers of a line.
const (
	cpuRatio = iota // of the job with the tracer to that without
	timingBytes
	votes
	voteMicros
	voteShare
	ledShare
	clusterings
	accuracy
	clusteringNumbers
)

// newClusteredRunCommand makes the line of a run, from a folder with the outputs that
// hack/bench-clustering.sh wrote: plain and cpu (bash's time without and with the tracer), info
// (cairn info --json), leads (cairn reduce --leads).
func newClusteredRunCommand() *cobra.Command {
	return &cobra.Command{
		Use: "clustered-run FOLDER MODE PROGRAM RANKS", Short: "What a run with clustering cost (hack/bench-clustering.sh)", Args: cobra.ExactArgs(4),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := clusteredRun(args[0])
			if err != nil {
				return err
			}
			fmt.Print(args[2], " ", args[3], " ", args[1])
			for _, x := range n {
				fmt.Print(" ", x)
			}
			fmt.Println()
			return nil
		},
	}
}

var (
	bashTime   = regexp.MustCompile(`(?m)^([0-9.]+) ([0-9.]+)$`)
	replayedBy = regexp.MustCompile(`by replay:.*ACC (\S+)%`)
)

func clusteredRun(folder string) (n [clusteringNumbers]float64, err error) {
	var info struct {
		Calls      float64
		Bytes      struct{ Timing float64 }
		Clustering struct {
			Votes        float64
			NSPerVote    float64 `json:"ns_per_vote"`
			VoteShare    float64 `json:"vote_share"`
			Extrapolated float64 `json:"calls_extrapolated"`
			Clusterings  float64
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "info"))
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(text, &info); err != nil {
		return n, fmt.Errorf("info: %w", err)
	}
	c := info.Clustering
	n = [clusteringNumbers]float64{
		timingBytes: info.Bytes.Timing / info.Calls, votes: c.Votes, voteMicros: c.NSPerVote / 1e3, voteShare: c.VoteShare,
		ledShare: c.Extrapolated / info.Calls, clusterings: c.Clusterings,
	}
	plain, err := cpuSeconds(filepath.Join(folder, "plain"))
	if err != nil {
		return n, err
	}
	traced, err := cpuSeconds(filepath.Join(folder, "cpu"))
	if err != nil {
		return n, err
	}
	n[cpuRatio] = traced / plain
	if text, err = os.ReadFile(filepath.Join(folder, "leads")); err != nil {
		return n, err
	}
	acc := replayedBy.FindSubmatch(text)
	if acc == nil {
		return n, fmt.Errorf("leads: there is no ACC of the replay")
	}
	percent, err := strconv.ParseFloat(string(acc[1]), 64)
	n[accuracy] = percent / 100
	return n, err
}

// cpuSeconds returns the sum of the two numbers of bash's time in a file: the last line with
// exactly two numbers.
func cpuSeconds(path string) (float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	all := bashTime.FindAllSubmatch(text, -1)
	if len(all) == 0 {
		return 0, fmt.Errorf("%s: there is no time", path)
	}
	n, err := numbers([]string{string(all[len(all)-1][1]), string(all[len(all)-1][2])})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return n[0] + n[1], nil
}

// newClusteringCommand makes a table from the lines of clustered-run: medians of the rounds.
func newClusteringCommand() *cobra.Command {
	return &cobra.Command{
		Use: "clustering FILE", Short: "What clustering while a program runs costs and saves (hack/bench-clustering.sh)", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := readFile(args[0], 3, clusteringNumbers, clusteringNumbers)
			if err != nil {
				return err
			}
			return printClustering(os.Stdout, all)
		},
	}
}

func printClustering(to io.Writer, all []measurement) error {
	fmt.Fprintf(to, "%-8s %5s %-10s %17s %19s %6s %8s %8s %10s\n", "program", "ranks", "mode", "CPU, of untraced", "timing, bytes/call", "votes", "µs/vote", "of time", "led calls")
	r := rounds{}
	type job struct{ program, ranks string }
	var jobs []job
	seen := map[job]bool{}
	for _, m := range all {
		j := job{m.words[0], m.words[1]}
		if !seen[j] {
			seen[j] = true
			jobs = append(jobs, j)
		}
		name := j.program + " " + j.ranks + " " + m.words[2]
		r[name] = append(r[name], m.numbers)
	}
	for _, j := range jobs {
		of := map[string][clusteringNumbers]float64{}
		for _, mode := range []string{"full", "clustered"} {
			name := j.program + " " + j.ranks + " " + mode
			if err := r.check(name); err != nil {
				return err
			}
			var n [clusteringNumbers]float64
			for k := range n {
				n[k] = median(r.column(name, k))
			}
			of[mode] = n
			fmt.Fprintf(to, "%-8s %5s %-10s %17.2f %19.3f %6.0f %8.0f %7.1f%% %9.1f%%\n", j.program, j.ranks, mode, n[cpuRatio], n[timingBytes], n[votes], n[voteMicros], 100*n[voteShare], 100*n[ledShare])
		}
		full, clustered := of["full"], of["clustered"]
		fmt.Fprintf(to, "         votes: %.1f%% of the ranks' time (target 5%%: %s); ACC of the leads of the full run: %.1f%% (target 95%%: %s)\n",
			100*clustered[voteShare], capital(clustered[voteShare] <= maxVoteShare), 100*full[accuracy], capital(full[accuracy] >= minAccuracy))
		if j.program == "phases" {
			saved, target := 1-clustered[timingBytes]/full[timingBytes], minSaved
			if j.ranks == "4" {
				target = minSavedOf4
			}
			fmt.Fprintf(to, "         timing saved: %.0f%% (target %.0f%%: %s); clusterings: %.0f (target %d: %s)\n",
				100*saved, 100*target, capital(saved >= target), clustered[clusterings], wantClusterings, capital(clustered[clusterings] == wantClusterings))
		}
	}
	return nil
}
