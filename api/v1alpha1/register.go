package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the objects of this package.
var GroupVersion = schema.GroupVersion{Group: "cairn.dev", Version: "v1alpha1"}

// Kind is the kind of a traced MPI job.
const Kind = "TracedMPIJob"

// AddToScheme registers the objects of this package in a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &TracedMPIJob{}, &TracedMPIJobList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
