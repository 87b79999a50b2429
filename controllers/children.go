package controllers

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/refusal"
)

// nameConflictError means that an object that must be created exists and belongs to someone else.
type nameConflictError struct {
	kind, namespace, name string
	// leaving is true if that object is being deleted.
	leaving bool
}

func (e *nameConflictError) Error() string {
	if e.leaving {
		return fmt.Sprintf("waiting for the deletion of %s %q in namespace %s", e.kind, e.name, e.namespace)
	}
	return fmt.Sprintf("%s %q exists in namespace %s and belongs to something else: delete it, or choose another name for the job",
		e.kind, e.name, e.namespace)
}

// ensure creates wanted as a child of the job, or reads the existing object into found, and returns
// the one that exists. A step that is repeated, or that read a stale cache, thereby finds what it
// created before.
func ensure[T client.Object](ctx context.Context, p *pass, wanted, found T) (T, error) {
	var none T
	if err := controllerutil.SetControllerReference(p.job, wanted, p.Scheme()); err != nil {
		return none, err
	}
	key := client.ObjectKeyFromObject(wanted)
	err := p.Get(ctx, key, found)
	if apierrors.IsNotFound(err) {
		if err = p.create(ctx, wanted); err == nil {
			return wanted, nil
		}
		if apierrors.IsAlreadyExists(err) {
			err = p.Live.Get(ctx, key, found)
		}
	}
	if err != nil {
		return none, err
	}
	if !metav1.IsControlledBy(found, p.job) {
		return none, p.conflict(found)
	}
	return found, nil
}

// create creates an object that the job needs. A refusal by the API server is returned as a
// refusal.Error, for the conditions.
func (p *pass) create(ctx context.Context, wanted client.Object) error {
	about := &refusal.Error{Kind: p.kindOf(wanted), Name: wanted.GetName(), Step: wanted.GetLabels()[naming.StepLabel]}
	return p.ask(about, func() error { return p.Create(ctx, wanted) })
}

func (p *pass) conflict(child client.Object) error {
	owner := metav1.GetControllerOf(child)
	// The children of an earlier job with this name are deleted shortly after it.
	predecessors := owner != nil && owner.Kind == v1alpha1.Kind && owner.Name == p.job.Name
	return &nameConflictError{
		kind: p.kindOf(child), namespace: child.GetNamespace(), name: child.GetName(),
		leaving: predecessors || !child.GetDeletionTimestamp().IsZero(),
	}
}

func (p *pass) kindOf(object client.Object) string {
	gvk, err := apiutil.GVKForObject(object, p.Scheme())
	if err != nil {
		return "object"
	}
	return gvk.Kind
}
