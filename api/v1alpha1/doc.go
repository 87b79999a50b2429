// Package v1alpha1 is the API of Cairn: the TracedMPIJob, its defaults, its
// validation (as CEL rules in the CRD) and the vocabulary of its conditions.
//
// +kubebuilder:object:generate=true
// +groupName=cairn.dev
package v1alpha1

//go:generate ../../hack/tools/generate.sh
