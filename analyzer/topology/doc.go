// Package topology finds the shape in which ranks talk to each other: a grid, a torus, a stencil, a tree, a master with
// its workers.
//
// In goes a communication matrix (calls and bytes from rank to rank within one communicator), out comes a Topology: the
// pattern's name and sizes, the place of every rank in it, and how much traffic goes along its edges and how much
// beside them. The numbering of ranks does not matter. The method is the one of "Logicalization of MPI communication
// traces" (Xu, Prithivathi, Subhlok, Zheng; University of Houston): filter (§4.1), decision tree and isomorphism
// (§4.2), with color refinement and individualisation in the place of VF2 (isomorphism.go). A name is only given with
// a proof: a mapping of ranks to places under which the traffic's graph and the pattern's are equal edge by edge.
package topology
