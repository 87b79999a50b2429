// Package efficiency gives the efficiencies of POP (co-design.pop-coe.eu), useful meaning outside MPI: load balance =
// mean(useful)/max(useful), communication efficiency = max(useful)/T, parallel efficiency = their product = mean(useful)/T.
package efficiency
