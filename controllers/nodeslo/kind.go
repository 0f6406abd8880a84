package nodeslo

import (
	"encoding/json"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/nodeobject"
	"koordinator.sh/koord/decision/core/configmerge"
)

var metrics = nodeobject.NewMetrics("nodeslo", "NodeSLO")

// Kind is the counterpart of a node that holds the configuration of its agent.
func Kind() nodeobject.Kind[*slov1alpha1.NodeSLO] {
	return nodeobject.Kind[*slov1alpha1.NodeSLO]{
		Name:  "nodeslo",
		New:   func() *slov1alpha1.NodeSLO { return &slov1alpha1.NodeSLO{} },
		Want:  want,
		Patch: patch,
		Keys:  configmerge.NodeSLOKeys(),
		// Node selectors look at labels alone.
		NodeChanged: predicate.LabelChangedPredicate{},
		Metrics:     metrics,
	}
}

// want is the configuration rendered for the node. Layers that cannot be read never get into a configuration, so every
// derivation is clean.
func want(config configmerge.Config, node *corev1.Node) (*slov1alpha1.NodeSLO, bool) {
	return &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Spec: config.NodeSLOSpec(node)}, true
}

// patch writes the difference between the two specs as this version knows them; the extensions stay as they are. It applies
// to the version that was compared and no other, for a difference to an older one would make a mixture of two configurations.
func patch(existing, want *slov1alpha1.NodeSLO) ([]byte, error) {
	was, will := differing(existing.Spec, want.Spec)
	if equality.Semantic.DeepEqual(was, will) {
		return nil, nil
	}
	spec, err := difference(was, will)
	if err != nil || string(spec) == "{}" {
		return nil, err
	}
	return json.Marshal(document{
		Metadata: head{ResourceVersion: existing.ResourceVersion, ManagedFields: tracked(existing.ManagedFields)},
		Spec:     spec,
	})
}

// document is a merge patch of a NodeSLO.
type document struct {
	Metadata head            `json:"metadata"`
	Spec     json.RawMessage `json:"spec"`
}

// head is what a patch says of the object itself: the version it applies to, and managed fields where they are to change.
type head struct {
	ResourceVersion string                      `json:"resourceVersion,omitempty"`
	ManagedFields   []metav1.ManagedFieldsEntry `json:"managedFields,omitempty"`
}

// difference is the merge patch from one spec to another; {} when they are the same as JSON.
func difference(was, will slov1alpha1.NodeSLOSpec) ([]byte, error) {
	from, err := json.Marshal(was)
	if err != nil {
		return nil, err
	}
	to, err := json.Marshal(will)
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(from, to)
}

// differing leaves of two specs the strategies that differ. To compare the whole as JSON, which is done for every node when the
// configuration changes, takes three times as long (BenchmarkPatch).
func differing(a, b slov1alpha1.NodeSLOSpec) (slov1alpha1.NodeSLOSpec, slov1alpha1.NodeSLOSpec) {
	a.Extensions, b.Extensions = nil, nil
	drop(&a.ResourceUsedThresholdWithBE, &b.ResourceUsedThresholdWithBE)
	drop(&a.ResourceQOSStrategy, &b.ResourceQOSStrategy)
	drop(&a.CPUBurstStrategy, &b.CPUBurstStrategy)
	drop(&a.SystemStrategy, &b.SystemStrategy)
	drop(&a.HostApplications, &b.HostApplications)
	return a, b
}

// drop clears both when they are equal.
func drop[T any](a, b *T) {
	if equality.Semantic.DeepEqual(*a, *b) {
		var none T
		*a, *b = none, none
	}
}
