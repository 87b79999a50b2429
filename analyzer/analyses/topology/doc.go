// Package topology recognizes the shape in which ranks talk: package analyzer/topology has the method.
package topology
