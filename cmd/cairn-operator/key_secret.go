package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/controllers"
	"github.com/cairn-mpi/cairn/controllers/container"
)

// A key signs requests to the storage.
type key struct{ access, secret string }

// keySecrets are the Secrets for keys. The chart creates them empty and programs in the cluster
// fill them. So a rendered chart has no key in it and is the same each time, and the key of a
// Secret outlives releases. This needs the right to get and patch these Secrets by name, but not to
// create any.
type keySecrets struct {
	client.Client
	// readOnly is true if somebody else fills the Secrets.
	readOnly bool
}

func inClusterSecrets() (client.Client, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, unavailableError{fmt.Errorf("no cluster: %w", err)}
	}
	c, err := client.New(config, client.Options{Scheme: controllers.Scheme()})
	if err != nil {
		return nil, unavailableError{err}
	}
	return c, nil
}

// ensure returns the key in a Secret. A Secret without a key gets fresh.
func (s keySecrets) ensure(ctx context.Context, name types.NamespacedName, fresh key) (key, error) {
	secret := &corev1.Secret{}
	err := s.Get(ctx, name, secret)
	if apierrors.IsNotFound(err) {
		return key{}, fmt.Errorf("the Secret %s does not exist: run helm upgrade, or create it with %s and %s",
			name, container.AccessKey, container.SecretKey)
	}
	if err != nil {
		return key{}, fmt.Errorf("cannot read Secret %s: %w", name, err)
	}
	found := key{
		access: strings.TrimSpace(string(secret.Data[container.AccessKey])),
		secret: strings.TrimSpace(string(secret.Data[container.SecretKey])),
	}
	before := secret.DeepCopy()
	if found == (key{}) && !s.readOnly {
		found = fresh
		secret.Data = map[string][]byte{container.AccessKey: []byte(fresh.access), container.SecretKey: []byte(fresh.secret)}
	}
	if found.access == "" || found.secret == "" {
		return key{}, fmt.Errorf("the Secret %s must have both %s and %s", name, container.AccessKey, container.SecretKey)
	}
	if !s.readOnly {
		// a Secret of the chart that was created again by hand must survive the next helm upgrade
		metav1.SetMetaDataAnnotation(&secret.ObjectMeta, keepAnnotation, "keep")
	}
	if equality.Semantic.DeepEqual(before, secret) {
		return found, nil
	}
	// another writer that filled it at the same time wins
	if err := s.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return key{}, fmt.Errorf("cannot fill Secret %s: %w", name, err)
	}
	return found, nil
}

// keepAnnotation makes helm keep an object.
const keepAnnotation = "helm.sh/resource-policy"

// randomText returns n random characters that never need quoting.
func randomText(n int) string {
	const characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	text := make([]byte, n)
	for i := range text {
		index, err := rand.Int(rand.Reader, big.NewInt(int64(len(characters))))
		if err != nil {
			panic(err) // the system cannot provide random numbers
		}
		text[i] = characters[index.Int64()]
	}
	return string(text)
}
