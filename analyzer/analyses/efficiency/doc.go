// Package efficiency computes POP's efficiencies of a run (co-design.pop-coe.eu), where "useful" is
// the time outside of MPI:
//
//   - load balance = mean(useful)/max(useful)
//   - communication efficiency = max(useful)/T
//   - parallel efficiency = their product = mean(useful)/T
//
// T is the duration of the run; of a run that hung, until its last progress.
package efficiency
