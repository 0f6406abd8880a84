package configplan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

const (
	normalizationKey = "cpu-normalization-config"
	amplificationKey = "resource-amplification-config"
	on               = `{"enable": true}`
)

// offersOf are the offers of one node that change, by resource, in the unit of the plan.
func offersOf(plan *Plan, node string) map[corev1.ResourceName][2]int64 {
	out := map[corev1.ResourceName][2]int64{}
	for i := range plan.Nodes {
		for _, offer := range plan.Nodes[i].Offers {
			if plan.Nodes[i].Name == node {
				out[offer.Resource] = [2]int64{valueOr(offer.Old, -1), valueOr(offer.New, -1)}
			}
		}
	}
	return out
}

func ratiosOf(plan *Plan, node string) []RatioChange {
	for i := range plan.Nodes {
		if plan.Nodes[i].Name == node {
			return plan.Nodes[i].Ratios
		}
	}
	return nil
}

// TestPlanFollowsNormalizationIntoBatch compares the new offer with the one that the controller computes once the annotation
// is written.
func TestPlanFollowsNormalizationIntoBatch(t *testing.T) {
	xeon := &extension.CPUBasicInfo{CPUModel: "Xeon", TurboEnabled: true}
	const normalized = `{"enable": true, "ratioModel": {"Xeon": {"turboEnabledRatio": 1.5}}}`
	tests := map[string]struct {
		annotation, old, next string
		cpus                  map[string]*extension.CPUBasicInfo
		wantOld, wantNew      string
	}{
		"turned on":                      {"", `{}`, normalized, map[string]*extension.CPUBasicInfo{"gold-1": xeon}, "", "1.50"},
		"another ratio":                  {"1.50", normalized, strings.Replace(normalized, "1.5", "2", 1), map[string]*extension.CPUBasicInfo{"gold-1": xeon}, "1.50", "2.00"},
		"turned off":                     {"1.50", normalized, `{"enable": false}`, map[string]*extension.CPUBasicInfo{"gold-1": xeon}, "1.50", ""},
		"a cpu that is not known":        {"", `{}`, normalized, nil, "", ""},
		"one that somebody else set":     {"1.20", `{}`, `{"enable": false, "defaultRatio": 2}`, map[string]*extension.CPUBasicInfo{"gold-1": xeon}, "", ""},
		"not converged to the old ratio": {"1.20", normalized, strings.Replace(normalized, "1.5", "2", 1), map[string]*extension.CPUBasicInfo{"gold-1": xeon}, "1.50", "2.00"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := small(t, map[string]string{colocation: on, normalizationKey: test.old}, map[string]string{colocation: on, normalizationKey: test.next})
			in.CPUs = test.cpus
			if test.annotation != "" {
				in.Nodes[0].Annotations = map[string]string{normalizationRatio: test.annotation}
			}
			plan := Of(in)
			var got RatioChange
			for _, ratio := range ratiosOf(plan, "gold-1") {
				if ratio.Annotation == normalizationRatio {
					got = ratio
				}
			}
			if got.Old != test.wantOld || got.New != test.wantNew {
				t.Errorf("the ratio changes from %q to %q, want from %q to %q", got.Old, got.New, test.wantOld, test.wantNew)
			}
			want := map[corev1.ResourceName][2]int64{}
			if test.wantOld != test.wantNew {
				want[extension.BatchCPU] = [2]int64{batchWith(in, test.wantOld), batchWith(in, test.wantNew)}
			}
			offers := offersOf(plan, "gold-1")
			delete(offers, corev1.ResourceCPU) // amplified with it
			if diff := cmp.Diff(want, offers); diff != "" {
				t.Errorf("offers (-controller +plan):\n%s", diff)
			}
		})
	}
}

// batchWith is the batch-cpu of the first node with a ratio written on it.
func batchWith(in Input, ratio string) int64 {
	node := in.Nodes[0].DeepCopy()
	node.Annotations = map[string]string{normalizationRatio: ratio}
	if ratio == "" {
		node.Annotations = nil
	}
	input := overcommit.NodeInput{Node: node, Now: in.Now, Strategy: in.New.Colocation(node), Metric: &in.Metrics[0]}
	for p := range in.Pods {
		if in.Pods[p].Spec.NodeName == node.Name {
			input.Pods = append(input.Pods, &in.Pods[p])
		}
	}
	return overcommit.Calculate(input, nil).BatchCPU.Value
}

func TestPlanSaysHowMuchLargerANodeIsShown(t *testing.T) {
	next := map[string]string{colocation: on, amplificationKey: `{"enable": true, "resourceAmplificationRatio": {"cpu": 1.5}, "nodeConfigs": [
		{"name": "silver", "nodeSelector": {"matchLabels": {"pool": "silver"}}, "enable": false}]}`}
	in := small(t, map[string]string{colocation: on}, next)
	plan := Of(in)
	if diff := cmp.Diff(map[corev1.ResourceName][2]int64{corev1.ResourceCPU: {32000, 48000}}, offersOf(plan, "gold-1")); diff != "" {
		t.Errorf("gold (-want +got):\n%s", diff)
	}
	if got := offersOf(plan, "silver-1"); len(got) > 0 {
		t.Errorf("silver changes: %v", got)
	}
	want := []RatioChange{{Annotation: amplificationRatio, New: `{"cpu":1.50}`, Reason: "configured ratio x cpu normalization ratio"}}
	if diff := cmp.Diff(want, ratiosOf(plan, "gold-1")); diff != "" {
		t.Errorf("ratios (-want +got):\n%s", diff)
	}
	// And back, on a node that is amplified.
	in = small(t, next, map[string]string{colocation: on})
	in.Nodes[0].Annotations = map[string]string{amplificationRatio: `{"cpu":1.50}`, "node.koordinator.sh/raw-allocatable": `{"cpu":"32"}`}
	in.Nodes[0].Status.Allocatable = amounts("cpu", "48", "memory", "128Gi")
	if diff := cmp.Diff(map[corev1.ResourceName][2]int64{corev1.ResourceCPU: {48000, 32000}}, offersOf(Of(in), "gold-1")); diff != "" {
		t.Errorf("gold, back (-want +got):\n%s", diff)
	}
}

func TestPlanSaysWhatItCannotForesee(t *testing.T) {
	predicted := map[string]string{colocation: `{"enable": true, "nodeConfigs": [{"name": "gold", "nodeSelector": {"matchLabels": {"pool": "gold"}},
		"extensions": {"predictor": {"batch": "balanced"}}}]}`}
	plan := Of(small(t, map[string]string{colocation: on}, predicted))
	if len(plan.Incomplete) != 1 || !strings.HasPrefix(plan.Incomplete[0], "on 1 nodes a predictor") {
		t.Errorf("incomplete: %q", plan.Incomplete)
	}
	if len(plan.Groups) != 1 || plan.Groups[0].Changes[0].Path != "extensions.predictor.batch" || plan.Groups[0].Changes[0].New != "balanced" {
		t.Errorf("groups: %+v", plan.Groups)
	}
	if plan := Of(small(t, predicted, predicted)); len(plan.Incomplete) > 0 {
		t.Errorf("nothing changes and this is said: %q", plan.Incomplete)
	}
}
