package attack

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/test/sandboxtest"
)

// resources of the kinds of the scene, and which of them are in no namespace.
var resources = map[string]struct {
	name    string
	cluster bool
}{
	"Namespace": {"namespaces", true}, "PriorityClass": {"priorityclasses", true}, "Reservation": {"reservations", true},
	"ElasticQuota": {"elasticquotas", false}, "PodGroup": {"podgroups", false}, "Pod": {"pods", false},
}

// prepared is done once for all tests that need the scene.
var prepared sync.Once

// setStage makes the objects that are asked about, and waits until those that get nodes have them and are measured.
func setStage(t *testing.T) {
	t.Helper()
	prepared.Do(func() {
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		putAll(t, client, "testdata/explanations.yaml")
		sandboxtest.Eventually(t, patience, func() error { return onStage(t.Context()) })
		putAll(t, client, "testdata/preempting.yaml")
	})
	sandboxtest.Eventually(t, patience, func() error { return onStage(t.Context()) })
}

// putAll creates the objects of a file.
func putAll(t *testing.T, client dynamic.Interface, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for object := range strings.SplitSeq(string(text), "\n---\n") {
		if err := put(t.Context(), client, object); err != nil {
			t.Fatal(err)
		}
	}
}

// put creates an object.
func put(ctx context.Context, client dynamic.Interface, text string) error {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		return err
	}
	kind := resources[object.GetKind()]
	version, err := schema.ParseGroupVersion(object.GetAPIVersion())
	if err != nil {
		return err
	}
	var creator dynamic.ResourceInterface = client.Resource(version.WithResource(kind.name))
	if !kind.cluster {
		creator = client.Resource(version.WithResource(kind.name)).Namespace(object.GetNamespace())
	}
	_, err = creator.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// onStage is nil when all pods are where they stay.
func onStage(ctx context.Context) error {
	for namespace, names := range map[string][]string{"canary-shop": canaries["pods"], tenantNamespace: {"bound"}} {
		for _, name := range names {
			pod, err := admin.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if pod.Spec.NodeName == "" {
				return fmt.Errorf("pod %s/%s has no node: %+v", namespace, name, pod.Status.Conditions)
			}
		}
	}
	return nil
}
