// Package efficiency computes POP's efficiencies of a run (co-design.pop-coe.eu), where "useful" is
// the time outside of MPI:
//
//   - load balance = mean(useful)/max(useful)
//   - communication efficiency = max(useful)/T
//   - parallel efficiency = their product = mean(useful)/T
package efficiency
