//go:build tools

// Package tools pins the programs that generate code, apart from the module
// that people import.
package tools

import _ "sigs.k8s.io/controller-tools/cmd/controller-gen"
