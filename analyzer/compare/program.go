package compare

import (
	"fmt"
	"path"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/funcname"
)

// A source is the location of a call site in the source text, without lines, which edits move.
type source struct{ function, file, module string }

func sourceOf(s *trace.Site) source {
	one := source{function: s.Function, module: path.Base(s.Module)}
	if s.File != "" {
		one.file = path.Base(s.File)
	}
	return one
}

// String returns the source in words.
func (s source) String() string {
	switch {
	case s.function != "" && s.file != "":
		return funcname.Short(s.function) + " in " + s.file
	case s.function != "" || s.file != "":
		return funcname.Short(s.function) + s.file
	}
	return s.module
}

// identities are what identifies a call in another build of the program: the MPI function and the
// file, or the function that contains it. Every program has a main, which is not enough by itself.
func (r *run) identities(p place) []string {
	s, known := r.sources[p.site]
	if !known {
		return []string{p.function} // the trace has no call sites
	}
	var list []string
	if s.file != "" {
		list = append(list, p.function+" in file "+s.file)
	}
	if s.function != "" && s.function != "main" && s.function != "MAIN__" {
		list = append(list, p.function+" in function "+s.function)
	}
	if s.file == "" {
		list = append(list, p.function+" in module "+s.module)
	}
	return list
}

// startsOrEnds are calls that all programs have.
var startsOrEnds = map[string]bool{"MPI_Init": true, "MPI_Init_thread": true, "MPI_Session_init": true, "MPI_Finalize": true, "MPI_Session_finalize": true}

// common returns the share of r's time at places that o has, too. It is 1 if a run does nothing
// between MPI_Init and MPI_Finalize.
func (r *run) common(o *run) float64 {
	has := map[string]bool{}
	for p := range o.total {
		if !startsOrEnds[p.function] {
			for _, identity := range o.identities(p) {
				has[identity] = true
			}
		}
	}
	all, both := 0.0, 0.0
	for p, seconds := range r.total {
		if startsOrEnds[p.function] {
			continue
		}
		all += seconds
		for _, identity := range r.identities(p) {
			if has[identity] {
				both += seconds
				break
			}
		}
	}
	if all == 0 {
		return 1
	}
	return both / all
}

// sameProgram is the minimum share of common time of two runs of a program.
const sameProgram = 0.5

// oneProgram returns an error if the runs of one side are not runs of one program.
func oneProgram(side []*run) error {
	for _, r := range side[1:] {
		if share := min(r.common(side[0]), side[0].common(r)); share < sameProgram {
			return fmt.Errorf("%s (%s) and %s (%s) are runs of different programs: %.0f%% of the time is at call sites that both have; the runs of a side are runs of one program",
				side[0].name, side[0].executable, r.name, r.executable, 100*share)
		}
	}
	return nil
}

// movedShare is the minimum share of a run's time at call sites that the other run has in the same
// function on another line, for matching call sites by function.
const movedShare = 0.1

// linesMoved reports whether call sites of x are on other lines in y: both have sites that the
// other one lacks, of the same MPI function in the same function of the program.
func linesMoved(x, y *run) bool {
	return min(x.movedFrom(y), y.movedFrom(x)) >= movedShare
}

// movedFrom returns the share of r's time at places that o lacks, but has in another line.
func (r *run) movedFrom(o *run) float64 {
	moved := map[string]bool{}
	for p := range o.total {
		if _, there := r.total[p]; !there {
			for _, identity := range o.identities(p) {
				moved[identity] = true
			}
		}
	}
	all, seconds := 0.0, 0.0
	for p, s := range r.total {
		all += s
		if _, there := o.total[p]; there {
			continue
		}
		for _, identity := range r.identities(p) {
			if moved[identity] {
				seconds += s
				break
			}
		}
	}
	if all == 0 {
		return 0
	}
	return seconds / all
}

// forgetLines describes call sites of a run by functions instead of lines.
func (r *run) forgetLines() {
	reword := func(p place) place {
		if s, known := r.sources[p.site]; known {
			p.site = s.String()
		}
		return p
	}
	merged := func(times map[place]float64) map[place]float64 {
		again := map[place]float64{}
		for p, seconds := range times {
			again[reword(p)] += seconds
		}
		return again
	}
	r.total = merged(r.total)
	for rank, own := range r.byRank {
		r.byRank[rank] = merged(own)
	}
	for i := range r.path {
		r.path[i].after, r.path[i].before = reword(r.path[i].after), reword(r.path[i].before)
	}
}
