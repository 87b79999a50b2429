package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	all := flag.Bool("all", false, "the whole breadth instead of every promise once; a failed stage does not end the run")
	flag.Parse()
	// SIGPIPE: the output goes to a command that has ended
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	err := run(ctx, *all, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "test:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, all bool, names []string) error {
	selected, err := choose(all, names)
	if err != nil {
		return err
	}
	started := time.Now()
	results := newSchedule(selected, all).run(ctx)
	fmt.Print(table(results, time.Since(started)))
	return verdict(results, os.Getenv("CI") != "" && !all)
}

// choose returns the stages with the names, or all stages of the suite.
func choose(all bool, names []string) ([]stage, error) {
	var chosen []stage
	for _, s := range stages {
		if len(names) == 0 && (all || !s.nightly) || slices.Contains(names, s.name) {
			chosen = append(chosen, s)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(stages, func(s stage) bool { return s.name == name }) {
			var known []string
			for _, s := range stages {
				known = append(known, s.name)
			}
			return nil, fmt.Errorf("no stage is called %q: the stages are %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// needs reports whether a stage comes after another one, directly or because of stages between
// them that are not selected.
func needs(st stage, name string) bool {
	return slices.ContainsFunc(st.after, func(after string) bool {
		i := slices.IndexFunc(stages, func(s stage) bool { return s.name == after })
		return after == name || i >= 0 && needs(stages[i], name)
	})
}
