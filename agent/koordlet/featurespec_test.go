package koordlet

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// incomplete lists the fields that a declaration of its kind must have and does not.
func incomplete(spec *FeatureSpec) []string {
	values := spec.Kind == nodefeature.Values
	var out []string
	for field, complete := range map[string]bool{
		"Spec":       spec.Name != "",
		"Values":     (spec.Values != nil) == values,
		"Kernel":     (len(spec.Kernel) > 0) != spec.EveryKernel || !values,
		"Status":     spec.Status != nil || spec.Kind != nodefeature.Other,
		"Result":     spec.Result == nil || spec.Values != nil,
		"Reconciler": spec.Reconciler == nil || spec.With == "",
		"Metrics":    (len(spec.Metrics) > 0) == (spec.Collect != nil),
		"With":       spec.With == "" || specOf(spec.With).Reconciler != nil,
	} {
		if !complete {
			out = append(out, field)
		}
	}
	slices.Sort(out)
	return out
}

// TestEveryFeatureIsDeclaredOnceAndComplete holds the two halves of the declarations together.
func TestEveryFeatureIsDeclaredOnceAndComplete(t *testing.T) {
	var names []string
	for _, spec := range featureSpecs() {
		names = append(names, spec.Name)
		if diff := cmp.Diff([]string(nil), incomplete(&spec)); diff != "" {
			t.Errorf("%s lacks (-want +got):\n%s", spec.Name, diff)
		}
		if spec.Values != nil && spec.Reconciler == nil {
			if made := spec.Values(&featureBuild{suppression: &qos.Suppression{}}); made.Name() != spec.Name {
				t.Errorf("the values of %s are those of %s", spec.Name, made.Name())
			}
		}
	}
	if diff := cmp.Diff(gates(), names); diff != "" {
		t.Errorf("features of the agent, in the order of nodefeature.All (-want +got):\n%s", diff)
	}
}

func TestAnIncompleteFeatureIsFound(t *testing.T) {
	value := func(*featureBuild) qos.Feature { return qos.BatchResource{} }
	tests := map[string]struct {
		spec FeatureSpec
		want []string
	}{
		"nothing is declared":             {FeatureSpec{}, []string{"Spec"}},
		"values of a kernel that is open": {FeatureSpec{Spec: nodefeature.BatchResource, Values: value}, []string{"Kernel"}},
		"a kernel without values":         {FeatureSpec{Spec: nodefeature.BatchResource, Kernel: []cgroup.Setting{cgroup.CPUShares}}, []string{"Values"}},
		"no status":                       {FeatureSpec{Spec: nodefeature.TerwayQoS}, []string{"Status"}},
		"a feature that does not reconcile": {
			FeatureSpec{Spec: nodefeature.BatchResource, EveryKernel: true, Values: value, With: nodefeature.HugePageReport.Name}, []string{"With"},
		},
		"metrics that nothing emits": {
			FeatureSpec{Spec: nodefeature.BatchResource, EveryKernel: true, Values: value, Metrics: []diagnostics.Metric{{Name: "m"}}}, []string{"Metrics"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, incomplete(&tc.spec)); diff != "" {
				t.Errorf("incomplete (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMetricsOfFeaturesAreUpstreams holds names and labels, which dashboards select by.
func TestMetricsOfFeaturesAreUpstreams(t *testing.T) {
	got := map[string][]string{}
	for _, metric := range describedMetrics() {
		if metric.Help == "" || got[metric.Name] != nil {
			t.Errorf("metric %s has no help, or is declared twice", metric.Name)
		}
		got[metric.Name] = metric.Labels
	}
	container := []string{"node", "pod_namespace", "pod_name", "container_name"}
	want := map[string][]string{
		"resctrl_llc_occupancy": {"node", "group"}, "resctrl_memory_bandwidth": {"node", "group", "type"}, "soft_eviction_requests": {"node", "state"},
		"container_scaled_cfs_burst_us": container, "container_scaled_cfs_quota_us": container,
		"pod_cpi":               {"node", "pod_namespace", "pod_name"},
		"pod_psi":               {"node", "pod_namespace", "pod_name", "pod_uid", "psi_resource_type", "psi_precision", "psi_degree"},
		"pod_core_sched_cookie": {"node", "pod_namespace", "pod_name", "core_sched_group", "core_sched_cookie"},
		oomKillsMetric:          container,
	}
	for name, labels := range want {
		if diff := cmp.Diff(labels, got[name]); diff != "" {
			t.Errorf("labels of metric %s (-want +got):\n%s", name, diff)
		}
	}
}
