// Package topology finds the shape in which ranks communicate: a grid, a torus, a stencil, a tree,
// a master with its workers.
//
// The input is a communication matrix (calls and bytes from rank to rank within one communicator).
// The output is a Topology: the pattern's name and sizes, the coordinates of every rank in it, and
// how much traffic is on its edges and how much is not. The numbering of ranks does not matter. The
// method is that of "Logicalization of MPI communication traces" (Xu, Prithivathi, Subhlok, Zheng;
// University of Houston): filter (§4.1), decision tree and isomorphism (§4.2), with color
// refinement and individualization instead of VF2 (isomorphism.go). A name is only given with a
// proof: a mapping of ranks to vertices under which the traffic's graph and the pattern's are equal
// edge by edge.
package topology
