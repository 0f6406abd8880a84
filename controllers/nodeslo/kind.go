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
		Keys:  layering.NodeSLOKeys(),
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
	was, will := differing(existing.Spec, want.Spec)
	if equality.Semantic.DeepEqual(was, will) {
		return nil, nil
	}
	if body, err := client.MergeFrom(&slov1alpha1.NodeSLO{Spec: was}).Data(&slov1alpha1.NodeSLO{Spec: will}); err != nil || string(body) == "{}" {
		return nil, err
	}
	from := &slov1alpha1.NodeSLO{ObjectMeta: existing.ObjectMeta, Spec: was}
	to := &slov1alpha1.NodeSLO{ObjectMeta: existing.ObjectMeta, Spec: will}
	to.ManagedFields = tracked(existing.ManagedFields)
	return client.MergeFromWithOptions(from, client.MergeFromWithOptimisticLock{}).Data(to)
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
