package plant

import (
	"slices"
	"strconv"
	"time"
)

// Arguments returns the arguments of test/plants/program/plants.c for this real plant; with mended,
// without the problem. scratch is a folder for its files.
func (p *Plant) Arguments(mended bool, scratch string) []string {
	a := []string{
		"--iterations", strconv.Itoa(p.Iterations), "--work-us", microseconds(p.Work), "--seed", strconv.FormatUint(p.Seed, 10),
		"--noise", strconv.FormatFloat(100*p.Noise, 'g', 3, 64), "--scratch", scratch,
	}
	if mended {
		a = append(a, "--mended")
	}
	all := p.With
	if len(all) == 0 {
		all = []*Plant{p}
	}
	for _, one := range all {
		a = append(a, "--kind", one.Kind, "--amount-us", microseconds(one.amount()), "--who", strconv.Itoa(one.first()),
			"--region", strconv.Itoa(one.Region), "--every", strconv.Itoa(max(1, one.Every)), "--phase", strconv.Itoa(one.Phase),
			"--phases", strconv.Itoa(one.Phases), "--count", strconv.Itoa(one.Count))
		if one.Device && one.takesTurns() {
			a = append(a, "--device")
		}
	}
	return a
}

// takesTurns reports whether the mended plant has more ranks that compute at the same time.
func (p *Plant) takesTurns() bool {
	switch p.Kind {
	case "chain", "pipeline", "serial", "master", "slow-worker", "moving", "heavy":
		return true
	}
	return false
}

// Comparable reports whether mended runs of a real plant can confirm a prediction. If ranks compute
// in turn, and at the same time in the mended run, that needs more cores than this machine has.
// Devices do not have this limit.
func (p *Plant) Comparable() bool {
	if len(p.With) > 0 {
		return p.With[0].Comparable() && p.With[1].Comparable()
	}
	return p.Device || !p.takesTurns()
}

// amount is the time that the problem takes in an iteration, or for a task: severity times what the
// rest takes.
func (p *Plant) amount() time.Duration {
	work := float64(p.Work)
	switch p.Kind {
	case "master":
		return time.Duration((1 + p.Severity - 1/float64(p.Count)) * work / float64(p.Ranks-1))
	case "slow-worker":
		return time.Duration((float64(p.Count)*(1+p.Severity) - 1) * work)
	}
	return time.Duration(p.Severity * work * float64(p.Ranks) / float64(cores()))
}

// first is the rank that is passed to the C program.
func (p *Plant) first() int {
	switch {
	case p.Kind == "heavy": // the one that computes least
		return slices.Index(p.Degrees, slices.Min(p.Degrees))
	case len(p.Who) == 0:
		return 0
	}
	return p.Who[0]
}

// Hogs returns the number of processes that only compute, besides a real plant.
func (p *Plant) Hogs(mended bool) int {
	if p.Kind != "few-cpus" || mended {
		return 0
	}
	return p.Count
}

func microseconds(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
