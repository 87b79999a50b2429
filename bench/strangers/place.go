package strangers

import (
	"encoding/binary"
	"math"
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

// place are the faults of class B.
var place = []Fault{
	{
		Class: Place, Name: "stretch", About: "a rank takes longer for its work, by so much", Weakest: 0.5, Strongest: 3,
		Touched: one, Begin: beginStretch, Expected: longer,
	},
	{
		Class: Place, Name: "node", About: "the ranks of a host take longer for their work, by so much",
		Weakest: 0.5, Strongest: 3, Touched: onHost, Begin: beginStretch, Expected: longer,
	},
	{
		Class: Place, Name: "stop", About: "a rank is stopped and continued; the strength is the part that it is stopped",
		Weakest: 0.4, Strongest: 0.8, Touched: one, Begin: beginStop, Expected: longer,
	},
	{
		Class: Place, Name: "latency", About: "a message between hosts takes so many milliseconds longer",
		Weakest: 1, Strongest: 10, Touched: everyone, Begin: beginLink(func(strength float64) network.Link {
			return network.Link{Latency: time.Duration(strength * float64(time.Millisecond))}
		}), Expected: slowNetwork,
	},
	{
		Class: Place, Name: "bandwidth", About: "a host sends one megabyte per second, divided by the strength",
		Weakest: 0.2, Strongest: 5, Touched: everyone, Begin: beginLink(func(strength float64) network.Link {
			return network.Link{Bandwidth: 1e6 / strength}
		}), Expected: slowNetwork,
	},
	{
		Class: Place, Name: "loss", About: "the network loses so many percent of the packets", Weakest: 0.1, Strongest: 1,
		Touched: everyone, Begin: beginLink(func(strength float64) network.Link {
			return network.Link{Loss: strength / 100}
		}), Expected: slowNetwork,
	},
	{
		Class: Place, Name: "kill", About: "a rank is killed", Weakest: 1, Strongest: 1, Ends: true, Touched: one,
		Begin: beginKill, Expected: crashed,
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

// beginStretch lets ranks sleep longer, by a part of what they want to.
func beginStretch(j *Job, touched []int, strength float64) (func(), error) {
	set := func(factor float64) {
		for _, rank := range touched {
			binary.NativeEndian.PutUint64(j.stretch[8*rank:], math.Float64bits(factor))
		}
	}
	set(1 + strength)
	return func() { set(1) }, nil
}

// beginLink changes the network. At strength 0 it stays as it is.
func beginLink(link func(strength float64) network.Link) func(*Job, []int, float64) (func(), error) {
	return func(j *Job, _ []int, strength float64) (func(), error) {
		if strength > 0 {
			j.network.Set(link(strength))
		}
		return func() { j.network.Set(network.Link{}) }, nil
	}
}

// crowd are the faults of class C.
var crowd = []Fault{{
	Class: Crowd, Name: "others", About: "so many processes compute on any core", Weakest: 1, Strongest: 2, Touched: everyone,
	Begin: func(_ *Job, _ []int, strength float64) (func(), error) {
		return beginHogs([]int{-1}, strength)
	},
	Expected: func([]int) []plant.Expected { return []plant.Expected{{Kind: verdict.CPUs}} },
}}
