// Package owntime divides the time that calls take themselves, without waiting for other ranks.
//
// A rank that has no CPU, or is stopped, stays in its call, and so do the ranks that exchange data
// with it. That time is in the call but is none that messages, collectives or files cost. The
// operating system counts it for each rank, and for call sites of long calls. So the own time of a
// call is divided in this order:
//
//   - its rank was ready to run, without a CPU;
//   - its rank was blocked, although calls of this run poll while they wait: something stopped it;
//   - the same of the rank that lacks most, of those that it exchanges data with;
//   - the rest is what the call costs.
//
// The parts of the partner are averages of its calls, since it is not known when it lacked a CPU.
package owntime
