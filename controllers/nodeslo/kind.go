package nodeslo

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/counterpart"
	"koordinator.sh/koord/decision/layering"
)

var metrics = counterpart.NewMetrics("nodeslo", "NodeSLO")

// Kind is the counterpart of a node that holds the configuration of its agent.
func Kind() counterpart.Kind[*slov1alpha1.NodeSLO] {
	return counterpart.Kind[*slov1alpha1.NodeSLO]{
		Name:  "nodeslo",
		New:   func() *slov1alpha1.NodeSLO { return &slov1alpha1.NodeSLO{} },
		Want:  want,
		Patch: patch,
		// Node selectors look at labels alone.
		NodeChanged: predicate.LabelChangedPredicate{},
		Metrics:     metrics,
	}
}

// want is the configuration rendered for the node. Layers that cannot be read never get into a configuration, so every
// derivation is clean.
func want(config layering.Config, node *corev1.Node) (*slov1alpha1.NodeSLO, bool) {
	return &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Spec: config.NodeSLOSpec(node)}, true
}

// patch writes the difference between the two specs as this version knows them; the extensions stay as they are. It applies
// to the version that was compared and no other, for a difference to an older one would make a mixture of two configurations.
func patch(existing, want *slov1alpha1.NodeSLO) ([]byte, error) {
	spec := want.Spec
	spec.Extensions = existing.Spec.Extensions
	if equality.Semantic.DeepEqual(existing.Spec, spec) {
		return nil, nil
	}
	changed := &slov1alpha1.NodeSLO{TypeMeta: existing.TypeMeta, ObjectMeta: existing.ObjectMeta, Spec: spec, Status: existing.Status}
	if body, err := client.MergeFrom(existing).Data(changed); err != nil || string(body) == "{}" {
		return nil, err
	}
	changed.ManagedFields = tracked(existing.ManagedFields)
	return client.MergeFromWithOptions(existing, client.MergeFromWithOptimisticLock{}).Data(changed)
}
