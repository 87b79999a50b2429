// Package placement says how much of the traffic crosses nodes, and which order of ranks would make it less.
//
// In go a trace, which knows on which node each rank ran and who sent how much to whom; out come Findings: the bytes that
// cross nodes, an order of the ranks on the same nodes that lets fewer cross, as a rankfile and as a list of hosts, and
// what the replay (package predict, LogGP with other parameters within nodes than between them) says the run would gain.
//
// The order comes from a partition of the graph of traffic into the nodes' sizes (partition.go). Edges weigh their bytes,
// or messages where there are no bytes. Candidates are
//   - the present one,
//   - tilings of the grid or torus that the topology (package topology) has found, under any numbering (tile.go),
//   - recursive bisection, and nodes grown one after the other (grow.go).
//
// Each is improved by exchanging ranks between pairs of nodes (refine.go; Kernighan and Lin, "An efficient heuristic
// procedure for partitioning graphs", Bell System Technical Log 49, 1970; gains as by Fiduccia and Mattheyses, "A
// linear-time heuristic for improving network partitions", DAC 1982). Small graphs are shaken and improved again.
// The best is taken, which is never worse than the present one. The work is bounded (maxWork), a few seconds for 16,384
// ranks. Only point-to-point messages count: what collectives send is MPI's own affair.
package placement
