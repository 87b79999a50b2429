// Package topology recognizes the topology of the communication: package analyzer/topology has the method.
package topology
