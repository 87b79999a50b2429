// Package placement says how much of the traffic crosses nodes, and which order of ranks would make it less.
//
// In go a trace, which knows on which node each rank ran and who sent how much to whom; out come Findings: the bytes that
// cross nodes, an order of the ranks on the same nodes that lets fewer cross, as a rankfile and as a list of hosts, and
// what the replay (package replay, LogGP with other parameters within nodes than between them) says the run would gain.
//
// The order comes from a partition of the graph of traffic into the nodes' sizes (partition.go): the present one, and
// one grown node by node around heavy edges, each improved by exchanging pairs of ranks as long as that lessens the cut
// (Kernighan and Lin, "An efficient heuristic procedure for partitioning graphs", Bell System Technical Journal 49, 1970).
// It is never worse than the present one. Only point-to-point messages count: what collectives send is MPI's own affair.
package placement
