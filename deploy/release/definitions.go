package release

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

var definitionResource = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// Labels and annotations by which the owner of an object is known.
const (
	// PartOfLabel has the value PartOf on everything that the chart installs.
	PartOfLabel    = "app.kubernetes.io/part-of"
	PartOf         = "koordinator"
	ownerRelease   = "meta.helm.sh/release-name"
	ownerNamespace = "meta.helm.sh/release-namespace"
	ownGroupSuffix = "koordinator.sh"
)

// ApplyCRDs creates or upgrades the custom resource definitions and waits until the API server serves them. Definitions of
// third-party groups (scheduling.sigs.k8s.io, topology.node.k8s.io) that somebody else installed are kept as they are.
func ApplyCRDs(ctx context.Context, clients genericclioptions.RESTClientGetter, dryRun bool) ([]Change, error) {
	options, err := Options{DryRun: dryRun}.withDefaults()
	if err != nil {
		return nil, err
	}
	s, err := newSession(clients, options)
	if err != nil {
		return nil, explain(err, "apply CustomResourceDefinitions")
	}
	changes, err := s.applyDefinitions(ctx)
	return changes, explain(err, "apply CustomResourceDefinitions")
}

func (s *session) applyDefinitions(ctx context.Context) ([]Change, error) {
	definitions, err := Definitions()
	if err != nil {
		return nil, err
	}
	changes := make([]Change, 0, len(definitions))
	for _, definition := range definitions {
		change, err := s.applyDefinition(ctx, definition)
		if err != nil {
			return changes, err
		}
		changes = append(changes, change)
	}
	if s.options.DryRun {
		return changes, nil
	}
	for _, change := range changes {
		if err := s.awaitEstablished(ctx, change.Name); err != nil {
			return changes, err
		}
	}
	return changes, nil
}

func (s *session) applyDefinition(ctx context.Context, definition *unstructured.Unstructured) (Change, error) {
	change := changeOf(definition, Created, "")
	client := s.dynamic.Resource(definitionResource)
	live, err := client.Get(ctx, definition.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		live = nil
	case err != nil:
		return change, fmt.Errorf("get customresourcedefinition %q: %w", definition.GetName(), err)
	}
	if live != nil {
		if owner := ForeignOwner(live, s.options); owner != "" {
			change.Action, change.Note = Kept, owner
			return change, nil
		}
	}
	labels := definition.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[PartOfLabel] = PartOf
	definition.SetLabels(labels)
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	if s.options.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	applied, err := client.Apply(ctx, definition.GetName(), definition, options)
	if err != nil {
		return change, fmt.Errorf("apply customresourcedefinition %q: %w", definition.GetName(), err)
	}
	if live != nil {
		change.Action = Configured
		if sameObject(live, applied) {
			change.Action = Unchanged
		}
	}
	return change, nil
}

// ForeignOwner says who owns a custom resource definition that installing leaves as it is; empty for one that would be upgraded.
func ForeignOwner(live *unstructured.Unstructured, options Options) string {
	if live.GetLabels()[PartOfLabel] == PartOf || options.TakeOwnership {
		return ""
	}
	if owner := live.GetAnnotations()[ownerRelease]; owner != "" && owner != options.ReleaseName {
		return fmt.Sprintf("belongs to Helm release %q", owner)
	}
	group, _, _ := unstructured.NestedString(live.Object, "spec", "group")
	if group == ownGroupSuffix || strings.HasSuffix(group, "."+ownGroupSuffix) {
		return ""
	}
	return "not installed by this release"
}

func (s *session) awaitEstablished(ctx context.Context, name string) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, s.options.Timeout, true, func(ctx context.Context) (bool, error) {
		live, err := s.dynamic.Resource(definitionResource).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return conditionTrue(live, "Established"), nil
	})
	if err != nil {
		return fmt.Errorf("wait until customresourcedefinition %q is established: %w", name, err)
	}
	return nil
}

func conditionTrue(object *unstructured.Unstructured, kind string) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, entry := range conditions {
		condition, ok := entry.(map[string]any)
		if ok && condition["type"] == kind {
			return condition["status"] == string(metav1.ConditionTrue)
		}
	}
	return false
}
