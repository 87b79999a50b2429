package strangers

import (
	"time"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/plant"
	"github.com/cairn-mpi/cairn/test/network"
)

// Class B has so many ranks, on so many hosts.
const (
	placeRanks = 8
	placeHosts = 4
	perHost    = placeRanks / placeHosts
)

// What is measured of several faults.
const (
	secondsSlept   = "seconds that were added to the sleep of the ranks"
	secondsDelayed = "seconds by which packets were delayed, in total"
)

// place are the faults of class B.
var place = []Fault{
	{
		Class: Place, Name: "stretch", About: "a rank takes longer for its work, by so much", Weakest: 0.5, Strongest: 3,
		Touched: one, Begin: beginStretch, Expected: longer, Effect: secondsSlept, Least: leastSeconds,
	},
	{
		Class: Place, Name: "node", About: "the ranks of a host take longer for their work, by so much",
		Weakest: 0.5, Strongest: 3, Touched: onHost, Begin: beginStretch, Expected: longer,
		Effect: secondsSlept, Least: leastSeconds,
	},
	{
		Class: Place, Name: "region", About: "a rank takes longer for its work in one region, by so much",
		Weakest: 0.5, Strongest: 3, Touched: one, Begin: beginRegion, Expected: longer,
		Effect: secondsSlept, Least: leastSeconds,
	},
	{
		Class: Place, Name: "stop", About: "a rank is stopped and continued; the strength is the part that it is stopped",
		Weakest: 0.4, Strongest: 0.8, Touched: one, Begin: beginStop, Expected: longer,
		Effect: secondsStopped, Least: leastSeconds,
	},
	{
		Class: Place, Name: "latency", About: "a message between hosts takes so many milliseconds longer",
		Weakest: 1, Strongest: 10, Touched: everyone, Expected: slowNetwork, Effect: secondsDelayed, Least: leastSeconds,
		Begin: beginLink(func(strength float64) network.Link {
			return network.Link{Latency: time.Duration(strength * float64(time.Millisecond))}
		}, delayed),
	},
	{
		Class: Place, Name: "bandwidth", About: "a host sends one megabyte per second, divided by the strength",
		Weakest: 0.2, Strongest: 5, Touched: everyone, Expected: slowNetwork, Effect: secondsDelayed, Least: leastSeconds,
		Begin: beginLink(func(strength float64) network.Link { return network.Link{Bandwidth: 1e6 / strength} }, delayed),
	},
	{
		Class: Place, Name: "loss", About: "the network loses so many percent of the packets", Weakest: 0.1, Strongest: 1,
		Touched: everyone, Expected: slowNetwork, Effect: "packets that were lost", Least: 1,
		Begin: beginLink(func(strength float64) network.Link { return network.Link{Loss: strength / 100} }, lost),
	},
	{
		Class: Place, Name: "kill", About: "a rank is killed", Weakest: 1, Strongest: 1, Ends: true, Touched: one,
		Begin: beginKill, Expected: crashed, Effect: wasKilled, Least: 1,
	},
}

// onHost returns the ranks of the host of a rank.
func onHost(rank int) (ranks []int) {
	first := rank / perHost * perHost
	for r := first; r < first+perHost; r++ {
		ranks = append(ranks, r)
	}
	return ranks
}

// longer accepts that ranks take longer than the others. They sleep instead of computing, which is
// blocked; that nothing happens meanwhile is what any form says.
func longer(touched []int) []plant.Expected {
	return []plant.Expected{{Kind: verdict.Excess, Who: touched, Exact: true}}
}

func slowNetwork([]int) []plant.Expected {
	return []plant.Expected{{Kind: verdict.Network}, {Kind: verdict.Messages}, {Kind: verdict.Collectives}}
}

func delayed(s network.Sent) float64 { return s.Delayed.Seconds() }
func lost(s network.Sent) float64    { return float64(s.Lost) }

// beginLink changes the network. At strength 0 it stays as it is.
func beginLink(link func(strength float64) network.Link, effect func(network.Sent) float64) func(*Job, []int, float64) (func() float64, error) {
	return func(j *Job, _ []int, strength float64) (func() float64, error) {
		before := effect(j.network.Sent())
		if strength > 0 {
			j.network.Set(link(strength))
		}
		return func() float64 {
			j.network.Set(network.Link{})
			return effect(j.network.Sent()) - before
		}, nil
	}
}

// crowd are the faults of class C.
var crowd = []Fault{{
	Class: Crowd, Name: "others", About: "so many processes compute on any core", Weakest: 1, Strongest: 2, Touched: everyone,
	Begin: func(_ *Job, _ []int, strength float64) (func() float64, error) {
		return beginHogs([]int{-1}, strength)
	},
	Effect: "seconds of CPU time of each of them", Least: leastSeconds,
	Expected: func([]int) []plant.Expected { return []plant.Expected{{Kind: verdict.CPUs}} },
}}
