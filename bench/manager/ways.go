package main

import (
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

var profileResource = configv1alpha1.GroupVersion.WithResource("clustercolocationprofiles")

// appliedLabel is set by every profile, to the name of its way.
const appliedLabel = "bench.koordinator.sh/applied"

// admission is one way in which pods are admitted.
type admission struct {
	// name of the way, and label the value that its profile sets.
	name, label string
	// profile is the spec beside what all profiles have; nil for no admission at all.
	profile map[string]any
	// colocated pods become batch pods.
	colocated bool
	// asked is how often each webhook is asked about one pod.
	asked map[string]int
}

// admissions take turns. Pods that have batch resources only are validated by the API server's policy, whichever of the two applied the
// profile.
var admissions = []admission{
	{name: "no admission"},
	{name: "policy, labels only", label: "policy", profile: map[string]any{}},
	{name: "policy, made batch pods", label: "policy-batch", profile: batchProfile(nil), colocated: true},
	{
		name: "webhook, made batch pods", label: "webhook-batch", colocated: true, asked: map[string]int{mutatePod: 1},
		// A patch of the spec is what CEL cannot express. This one sets what is the default: the pod is the same as by policy.
		profile: batchProfile(map[string]any{"spec": map[string]any{"terminationGracePeriodSeconds": int64(corev1.DefaultTerminationGracePeriodSeconds)}}),
	},
}

func batchProfile(patch map[string]any) map[string]any {
	spec := map[string]any{"qosClass": string(extension.QoSBE), "priorityClassName": "koord-batch"}
	if patch != nil {
		spec["patch"] = patch
	}
	return spec
}

// object is the profile.
func (a admission) object() *unstructured.Unstructured {
	spec := map[string]any{
		"namespaceSelector": map[string]any{"matchLabels": map[string]any{podNamespaceLabel: ""}},
		"labels":            map[string]any{appliedLabel: a.label},
	}
	maps.Copy(spec, a.profile)
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": configv1alpha1.GroupVersion.String(), "kind": "ClusterColocationProfile",
		"metadata": map[string]any{"name": "bench-" + a.label}, "spec": spec,
	}}
}

// check returns an error for a pod that was not admitted in this way.
func (a admission) check(pod *corev1.Pod) error {
	if applied := pod.Labels[appliedLabel]; applied != a.label {
		return fmt.Errorf("pod %q has the label of %q, want that of %q", pod.Name, applied, a.label)
	}
	_, batch := pod.Spec.Containers[0].Resources.Requests[extension.BatchCPU]
	if batch != a.colocated {
		return fmt.Errorf("pod %q requests %v; is it to be a batch pod: %t", pod.Name, pod.Spec.Containers[0].Resources.Requests, a.colocated)
	}
	return nil
}

// podFigures are those of all turns. The first way is the one that the others are compared with.
func podFigures(chosen settings, all []*turns) []figure {
	var figures []figure
	none := all[0]
	least, most := none.spread()
	noise := most - least
	for _, t := range all {
		what := fmt.Sprintf("pods created at %g/s, %s", chosen.podRate, t.name)
		times := t.all()
		p99 := measurement(what+", p99", milliseconds(quantile(times, 0.99)), "ms", fmt.Sprintf("of %d pods in %d turns, from when each was due", len(times), len(t.took)))
		figures = append(figures, measurement(what+", p50", milliseconds(quantile(times, 0.5)), "ms", ""), p99)
		if t.pods > 0 {
			figures = append(figures,
				measurement(what+", CPU time of the API server and etcd for one pod", milliseconds(t.used.controlPlane)/float64(t.pods), "ms", ""),
				measurement(what+", CPU time of koord-manager for one pod", milliseconds(t.used.cpu)/float64(t.pods), "ms", ""))
		}
		if t.refused > 0 {
			figures = append(figures, atMost(0, measurement(what+", refused", float64(t.refused), "pods", strings.ReplaceAll(t.refusal.Error(), "|", "/"))))
		}
	}
	for i, t := range all[1:] {
		added := measurement("p99 added by "+t.name, milliseconds(quantile(t.all(), 0.99)-quantile(none.all(), 0.99)), "ms", "")
		switch {
		case i == 0 && len(none.took) > 1:
			added = atMost(milliseconds(noise), added)
			added.Note = fmt.Sprintf("turns without admission differ by so much among themselves: p99 %s to %s", least.Round(10*time.Microsecond), most.Round(10*time.Microsecond))
		case i > 0:
			added = atMost(5, added)
		}
		figures = append(figures, added)
	}
	for _, t := range all[1:] {
		if t.policies.count > 0 {
			figures = append(figures, measurement("all mutating policies of the API server for one object, "+t.name+", mean", t.policies.seconds/t.policies.count*1000, "ms", "measured by the API server"))
		}
		for _, name := range []string{mutatePod, validatePod} {
			figures = append(figures, t.answers[name].figures(name+", "+t.name)...)
		}
	}
	return figures
}
