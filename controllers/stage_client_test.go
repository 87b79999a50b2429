package controllers

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// administrator is a client that all stages share.
var administrator = sync.OnceValues(func() (client.Client, error) {
	return client.New(server.Config, client.Options{Scheme: Scheme()})
})

// stageClient is the client of everyone on a stage. It has a cache, as the operator's own client
// does, and counts the changes that the API server accepts. The API server writes its own time into
// new objects: here they have the time of the stage's clock, so that no test depends on the speed
// of the machine.
type stageClient struct {
	client.Client
	on *stage
}

// kind returns the kind of an object, or of the objects of a list.
func (c stageClient) kind(object runtime.Object) string {
	gvk, err := apiutil.GVKForObject(object, c.Scheme())
	require.NoError(c.on, err)
	return strings.TrimSuffix(gvk.Kind, "List")
}

// answer is what the API server answered to a read.
type answer struct {
	object runtime.Object
	err    error
}

// cached fills object with what the stage knows, or else with what ask reads. Only clients of the
// stage change its objects, unless a live operator does.
func (c stageClient) cached(object runtime.Object, question any, ask func() error) error {
	key := fmt.Sprintf("%p %T %v", c.Client, object, question)
	known := c.on.known[c.kind(object)]
	if known == nil {
		known = map[string]answer{}
		c.on.known[c.kind(object)] = known
	}
	a, is := known[key]
	if !is || c.on.live {
		err := ask()
		known[key] = answer{object.DeepCopyObject(), err}
		return err
	}
	reflect.ValueOf(object).Elem().Set(reflect.ValueOf(a.object.DeepCopyObject()).Elem())
	return a.err
}

// read gives an object that was read the time at which the stage created it.
func (c stageClient) read(object client.Object) {
	if created, is := c.on.created[object.GetUID()]; is {
		object.SetCreationTimestamp(created)
	}
}

// changed notes a change that led to object.
func (c stageClient) changed(object client.Object, err error) error {
	delete(c.on.known, c.kind(object))
	if err == nil {
		c.on.changes++
		c.read(object)
	}
	return err
}

// timeless returns an object that leaves its creation time to the API server, which has its own.
func timeless(object client.Object) client.Object {
	object.SetCreationTimestamp(metav1.Time{})
	return object
}

func (c stageClient) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	return c.cached(object, key, func() error {
		err := c.Client.Get(ctx, key, object, options...)
		c.read(object)
		return err
	})
}

func (c stageClient) List(
	ctx context.Context, list client.ObjectList, options ...client.ListOption,
) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	question := fmt.Sprint(asked.Namespace, asked.LabelSelector, asked.FieldSelector)
	return c.cached(list, question, func() error {
		if err := c.Client.List(ctx, list, options...); err != nil {
			return err
		}
		return meta.EachListItem(list, func(item runtime.Object) error {
			c.read(item.(client.Object))
			return nil
		})
	})
}

func (c stageClient) Create(
	ctx context.Context, object client.Object, options ...client.CreateOption,
) error {
	err := c.Client.Create(ctx, object, options...)
	if err == nil {
		c.on.created[object.GetUID()] = metav1.NewTime(c.on.clock.Now())
	}
	return c.changed(object, err)
}

func (c stageClient) Delete(
	ctx context.Context, object client.Object, options ...client.DeleteOption,
) error {
	return c.changed(object, c.Client.Delete(ctx, object, options...))
}

func (c stageClient) DeleteAllOf(
	ctx context.Context, object client.Object, options ...client.DeleteAllOfOption,
) error {
	return c.changed(object, c.Client.DeleteAllOf(ctx, object, options...))
}

func (c stageClient) Update(
	ctx context.Context, object client.Object, options ...client.UpdateOption,
) error {
	return c.changed(object, c.Client.Update(ctx, timeless(object), options...))
}

func (c stageClient) Patch(
	ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption,
) error {
	return c.changed(object, c.Client.Patch(ctx, object, patch, options...))
}

func (c stageClient) Status() client.SubResourceWriter {
	return stageStatus{c.Client.Status(), c}
}

// stageStatus does the same for changes of the status.
type stageStatus struct {
	client.SubResourceWriter
	of stageClient
}

func (c stageStatus) Update(
	ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption,
) error {
	return c.of.changed(object, c.SubResourceWriter.Update(ctx, timeless(object), options...))
}

func (c stageStatus) Patch(
	ctx context.Context, object client.Object, patch client.Patch,
	options ...client.SubResourcePatchOption,
) error {
	return c.of.changed(object, c.SubResourceWriter.Patch(ctx, object, patch, options...))
}
