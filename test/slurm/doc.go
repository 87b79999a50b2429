// Package slurm runs traced jobs under Slurm: a controller and two nodes, which are parts of this
// machine (package test/network), for a user who is not root. The tests need the packages of
// `hack/install.sh slurm`, and root.
package slurm
