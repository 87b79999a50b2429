// Package reduce makes a trace of lead ranks: the calls, results and times of one rank of each
// cluster, and the lead of each rank.
//
// The input is a trace in memory (except for its times) and a lead for each rank. The output is the
// same without the value streams, times and system counters of all other ranks. A reader shows all
// ranks again, each with the calls of its lead, and with peers transposed (trace.Content.Leads):
// Chameleon's trace of lead processes (Bahmani and Mueller, IPDPS 2018, §III, §V.A).
//
// Accuracy is its ACC = 1 − |t − t'|/t, where t is the run time in a replay of the whole trace, and
// t' that of the leads' (package predict). The replay uses another network: waiting is computed
// again there, from the computation and the dependencies of ranks, so that leads that do not
// represent the others are noticed.
package reduce
