// Package topology recognizes the topology in which ranks communicate. The method is in package
// analyzer/topology.
package topology
