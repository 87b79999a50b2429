// Package placement determines how much of the traffic crosses nodes, and searches an order of
// ranks with less.
//
// Its input is a trace, with the node of each rank and the communication matrix. Its Findings are
// the bytes that cross nodes, an order of the ranks on the same nodes with fewer crossing bytes, as
// a rankfile and as a list of hosts, and the gain predicted by the replay (package predict, LogGP
// with different parameters within and between nodes).
//
// The order comes from a partition of the traffic graph into the sizes of the nodes (partition.go).
// The weight of an edge is its bytes, or messages if there are no bytes. Candidates are
//   - the present order,
//   - tilings of the grid or torus that the topology (package topology) has found, under any
//     numbering (tile.go),
//   - recursive bisection, and nodes grown one after the other (grow.go).
//
// Each is improved by exchanging ranks between pairs of nodes (refine.go; Kernighan and Lin, "An
// efficient heuristic procedure for partitioning graphs", Bell System Technical Journal 49, 1970;
// gains as by Fiduccia and Mattheyses, "A linear-time heuristic for improving network partitions",
// DAC 1982). For small graphs this is repeated with random perturbations. The result is never worse
// than the present order. The work is bounded (maxWork): a few seconds for 16,384 ranks. Only
// point-to-point messages count, because the messages of collectives depend on the MPI library.
package placement
