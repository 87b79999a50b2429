// Package reduce makes a trace of lead ranks: the calls, results and times of one rank of each cluster, and which ranks
// it stands for.
//
// In goes a trace in memory (but for its times) and a lead for each rank; out comes the same without the value streams,
// times and system counters of all others. Whoever reads it finds all ranks again, each with the calls of its lead,
// peers transposed (trace.Content.Leads): Chameleon's trace of lead processes (Bahmani and Mueller, IPDPS 2018, §III,
// §V.A). Accuracy is its ACC = 1 − |t − t'|/t, t the run time that the replay of the whole trace gives and t' that of
// the leads' (package predict). The replay is one on another network: waiting is computed anew there, from what ranks
// compute and from whom they depend on, so that leads which do not stand for the others show.
package reduce
