package manager

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	apiServiceName = "v1alpha1.diagnostics.koordinator.sh"
	// bundleRetry is how soon the registration is checked again while it or the bundle does not exist, and bundleInterval how often
	// afterwards, because it may be recreated, and after an error, which is logged each time.
	bundleRetry    = 2 * time.Second
	bundleInterval = 30 * time.Second
)

var apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// bundlePublisher keeps the bundle that verifies the diagnostics API in its APIService, without which kube-apiserver
// forwards nothing.
type bundlePublisher struct {
	client dynamic.Interface
	bundle func() []byte
	clock  clock.Clock
	// changed signals a new bundle; nil never does.
	changed chan struct{}
}

// wake triggers a check of the bundle. It never blocks.
func (p *bundlePublisher) wake() {
	select {
	case p.changed <- struct{}{}:
	default: // it has been woken already
	}
}

// run publishes until ctx ends.
func (p *bundlePublisher) run(ctx context.Context) {
	for {
		published, err := p.publish(ctx)
		if err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Failed to publish the certificate of the diagnostics API")
		}
		wait := bundleRetry
		if published || err != nil {
			wait = bundleInterval
		}
		select {
		case <-ctx.Done():
			return
		case <-p.clock.After(wait):
		case <-p.changed:
		}
	}
}

// publish is true when the APIService has the bundle; it is false while either of them does not exist.
func (p *bundlePublisher) publish(ctx context.Context) (bool, error) {
	bundle := p.bundle()
	if len(bundle) == 0 {
		return false, nil
	}
	service, err := p.client.Resource(apiServices).Get(ctx, apiServiceName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("get apiservice %q: %w", apiServiceName, err)
	}
	if bytes.Equal(bundleOf(service), bundle) {
		return true, nil
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"caBundle": bundle}})
	if err != nil {
		return false, fmt.Errorf("encode the bundle: %w", err)
	}
	_, err = p.client.Resource(apiServices).Patch(ctx, apiServiceName, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "koord-manager"})
	if err != nil {
		return false, fmt.Errorf("patch apiservice %q: %w", apiServiceName, err)
	}
	return true, nil
}

func bundleOf(service *unstructured.Unstructured) []byte {
	encoded, _, _ := unstructured.NestedString(service.Object, "spec", "caBundle")
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil
	}
	return decoded
}
