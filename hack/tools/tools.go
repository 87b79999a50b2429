//go:build tools

// Package tools pins the programs that generate code, separately from the module that people
// import.
package tools

import _ "sigs.k8s.io/controller-tools/cmd/controller-gen"
