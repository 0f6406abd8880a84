package amplification

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/configmerge"
)

// node has allocatable cpu and memory, ratios and raw allocatable; empty ones are absent.
func node(cpu, memory, ratios, raw string) *corev1.Node {
	out := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Annotations: map[string]string{}}}
	out.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100"), corev1.ResourceMemory: resource.MustParse("100Gi")}
	out.Status.Allocatable = corev1.ResourceList{}
	for name, value := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
		if value != "" {
			out.Status.Allocatable[name] = resource.MustParse(value)
		}
	}
	for key, value := range map[string]string{extension.AnnotationNodeResourceAmplificationRatio: ratios, extension.AnnotationNodeRawAllocatable: raw} {
		if value != "" {
			out.Annotations[key] = value
		}
	}
	return out
}

func strategy(t *testing.T, config string) configmerge.Amplification {
	t.Helper()
	parsed, problems := configmerge.Parse(map[string]string{"resource-amplification-config": config})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return parsed.ResourceAmplification(&corev1.Node{})
}

func owned(n *corev1.Node) *corev1.Node {
	n.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "koord-manager", FieldsV1: metav1.NewFieldsV1(
		`{"f:metadata":{"f:annotations":{"f:node.koordinator.sh/resource-amplification-ratio":{}}}}`)}}
	return n
}

func TestDecide(t *testing.T) {
	const half = `{"enable":true,"resourceAmplificationRatio":{"cpu":1.5,"memory":1.2,"example.com/x":0.5}}`
	tests := []struct {
		name, config string
		node         *corev1.Node
		normalized   int64
		wantWrite    string
		wantRemove   bool
	}{
		{name: "configured, one below 1", config: half, node: node("10", "", "", ""), normalized: 100, wantWrite: `{"cpu":1.50,"memory":1.20}`},
		{name: "times what a cpu is worth", config: half, node: node("10", "", "", ""), normalized: 110, wantWrite: `{"cpu":1.65,"memory":1.20}`},
		{name: "what a cpu is worth alone", config: `{}`, node: node("10", "", "", ""), normalized: 120, wantWrite: `{"cpu":1.20}`},
		{name: "nothing at all", config: `{}`, node: node("10", "", "", ""), normalized: 100},
		{name: "as it is", config: half, node: node("10", "", `{"memory":1.2,"cpu":1.501}`, ""), normalized: 100},
		{name: "garbage is replaced", config: half, node: node("10", "", `{`, ""), normalized: 100, wantWrite: `{"cpu":1.50,"memory":1.20}`},
		{name: "switched off", config: `{"enable":false,"resourceAmplificationRatio":{"cpu":1.5}}`, node: owned(node("10", "", `{"cpu":1.50}`, "")), normalized: 100, wantRemove: true},
		{name: "switched off, and the ratios are another's", config: `{}`, node: node("10", "", `{"cpu":1.50}`, ""), normalized: 100},
		{name: "the product is rounded to hundredths", config: `{"enable":true,"resourceAmplificationRatio":{"cpu":1.33}}`, node: node("10", "", "", ""), normalized: 133, wantWrite: `{"cpu":1.77}`},
		{name: "the largest ratio on the fastest cpu", config: `{"enable":true,"resourceAmplificationRatio":{"cpu":10}}`, node: node("10", "", "", ""), normalized: 500, wantWrite: `{"cpu":50.00}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := Input{Node: test.node, Strategy: strategy(t, test.config), NormalizationPercent: test.normalized}
			got := Decide(in, nil)
			if got.Write != test.wantWrite || got.Remove != test.wantRemove {
				t.Errorf("writes %q, removes %t; want %q, %t", got.Write, got.Remove, test.wantWrite, test.wantRemove)
			}
			if got.Write != "" {
				in.Node.Annotations[extension.AnnotationNodeResourceAmplificationRatio] = got.Write
				if again := Decide(in, nil); again.Write != "" {
					t.Errorf("once written, it writes %q", again.Write)
				}
			}
		})
	}
}

func TestShow(t *testing.T) {
	const half = `{"cpu":1.50,"memory":1.50}`
	tests := []struct {
		name         string
		before, node *corev1.Node
		want         *corev1.Node
	}{
		{name: "a new ratio", before: node("1000m", "", "", ""), node: node("1000m", "", half, ""), want: node("1500m", "", half, `{"cpu":"1"}`)},
		{name: "the kubelet writes what it offers", before: node("1500m", "15Gi", half, `{"cpu":"1","memory":"10Gi"}`), node: node("1", "10Gi", half, `{"cpu":"1","memory":"10Gi"}`),
			want: node("1500m", "15Gi", half, `{"cpu":"1","memory":"10Gi"}`)},
		{name: "the kubelet offers less", before: node("1500m", "", half, `{"cpu":"1"}`), node: node("800m", "", half, `{"cpu":"1"}`), want: node("1200m", "", half, `{"cpu":"800m"}`)},
		{name: "another writes the status as it is", before: node("1500m", "", half, `{"cpu":"1"}`), node: node("1500m", "", half, `{"cpu":"1"}`), want: node("1500m", "", half, `{"cpu":"1"}`)},
		{name: "the ratio grows", before: node("1500m", "", half, `{"cpu":"1"}`), node: node("1500m", "", `{"cpu":2}`, `{"cpu":"1"}`), want: node("2", "", `{"cpu":2}`, `{"cpu":"1"}`)},
		{name: "the ratio goes", before: node("1500m", "", half, `{"cpu":"1"}`), node: node("1500m", "", "", `{"cpu":"1"}`), want: node("1", "", "", "")},
		{name: "the ratio is 1", before: node("1000m", "", "", ""), node: node("1000m", "", `{"cpu":1}`, ""), want: node("1000m", "", `{"cpu":1}`, "")},
		{name: "the ratio is below 1", before: node("1000m", "", "", ""), node: node("1000m", "", `{"cpu":0.5}`, ""), want: node("1000m", "", `{"cpu":0.5}`, "")},
		{name: "while nobody amplified, the kubelet offered less", before: node("800m", "", half, `{"cpu":"1"}`), node: node("800m", "", half, `{"cpu":"1"}`),
			want: node("1200m", "", half, `{"cpu":"800m"}`)},
		{name: "a status from before comes back", before: node("800m", "", half, `{"cpu":"1"}`), node: node("1500m", "", half, `{"cpu":"1"}`),
			want: node("1500m", "", half, `{"cpu":"1"}`)},
		{name: "the ratio was replaced by hand before", before: node("1500m", "", `{"cpu":2}`, `{"cpu":"1"}`), node: node("1500m", "", `{"cpu":2}`, `{"cpu":"1"}`),
			want: node("2", "", `{"cpu":2}`, `{"cpu":"1"}`)},
		{name: "ratios that cannot be read show what there is", before: node("1500m", "", half, `{"cpu":"1"}`), node: node("1500m", "", `{`, `{"cpu":"1"}`), want: node("1", "", `{`, "")},
		{name: "raw amounts that cannot be read are written anew", before: node("1", "", "", `{`), node: node("1", "", half, `{`), want: node("1500m", "", half, `{"cpu":"1"}`)},
		{name: "fractions are rounded up", before: node("1001m", "3", "", ""), node: node("1001m", "3", half, ""), want: node("1502m", "5", half, `{"cpu":"1001m","memory":"3"}`)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			came := test.node.DeepCopy()
			got, _ := Show(test.before, test.node)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("node (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(came, test.node); diff != "" {
				t.Errorf("the request was modified:\n%s", diff)
			}
			if again, _ := Show(got, got); !cmp.Equal(again, got) {
				t.Errorf("written once more:\n%s", cmp.Diff(got, again))
			}
		})
	}
}

// TestTheKubeletAlwaysHeals lets a kubelet, a manager and a person write in any order, some of it while no webhook answers:
// after two statuses of the kubelet the node shows exactly the amplified offer.
func TestTheKubeletAlwaysHeals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	ratios := []string{"", `{"cpu":1}`, `{"cpu":1.5}`, `{"cpu":2}`, `{"cpu":1.11}`, `{`}
	// No offer is an amplified other one: such a coincidence cannot be told from the node as it is shown, and shows too little.
	offers := []string{"10", "7", "13", "19", "23"}
	for range 2000 {
		stored, offer, history := node("10", "", "", ""), "10", []string{}
		write := func(next *corev1.Node, asked bool) {
			if asked {
				next, _ = Show(stored, next)
			}
			stored = next
		}
		kubelet := func(asked bool) {
			next := stored.DeepCopy()
			next.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse(offer)
			write(next, asked)
		}
		for range 1 + random.IntN(6) {
			asked, next := random.IntN(3) > 0, stored.DeepCopy()
			switch random.IntN(3) {
			case 0:
				offer = offers[random.IntN(len(offers))]
				kubelet(asked)
			case 1:
				ratio := ratios[random.IntN(len(ratios))]
				delete(next.Annotations, extension.AnnotationNodeResourceAmplificationRatio)
				if ratio != "" {
					next.Annotations[extension.AnnotationNodeResourceAmplificationRatio] = ratio
				}
				write(next, asked)
			case 2:
				write(next, asked)
			}
			history = append(history, stored.Status.Allocatable.Cpu().String()+" "+stored.Annotations[extension.AnnotationNodeResourceAmplificationRatio])
		}
		kubelet(true)
		kubelet(true)
		applied, _ := extension.GetNodeAmplificationRatios(stored.Annotations)
		want := resource.MustParse(offer)
		if got := stored.Status.Allocatable.Cpu(); got.MilliValue() != shown(corev1.ResourceCPU, want.MilliValue(), applied) {
			t.Fatalf("after %s: the node shows %s of %s with %v", strings.Join(history, ", "), got, offer, applied)
		}
		if raw := capacity.Of(stored).Raw.MilliCPU; raw != want.MilliValue() {
			t.Fatalf("after %s: raw is %d, want %s", strings.Join(history, ", "), raw, offer)
		}
	}
}

// explain decides with a trace, and returns the explanation.
func explain(in Input, name types.NamespacedName) ([]diagnosticsv1alpha1.Waterfall, []diagnosticsv1alpha1.PublishedResource) {
	trace := &Trace{}
	return trace.Waterfalls(Decide(in, trace), name)
}

func TestTheTraceIsAWaterfall(t *testing.T) {
	name := types.NamespacedName{Namespace: "koordinator-system", Name: "slo-controller-config"}
	in := Input{Node: node("165", "", `{"cpu":1.65}`, `{"cpu":"90"}`), Strategy: strategy(t, `{"enable":true,"resourceAmplificationRatio":{"cpu":1.5}}`), NormalizationPercent: 110}
	falls, published := explain(in, name)
	if len(falls) != 1 || falls[0].Result != 148_500 || len(published) != 1 || published[0].State != "Pending" {
		t.Fatalf("waterfalls %+v, published %+v", falls, published)
	}
	value := int64(0)
	for _, term := range falls[0].Terms {
		switch term.Operator {
		case "start", "result":
			value = term.Value
		case "minus":
			value -= term.Value
		case "times":
			value = value * term.Value / 100
		}
	}
	if value != 148_500 || falls[0].Terms[2].Parts[0].Source.Field != "data[resource-amplification-config].resourceAmplificationRatio.cpu" {
		t.Errorf("terms give %d: %+v", value, falls[0].Terms)
	}
	plain := Input{Node: node("90", "", "", ""), Strategy: strategy(t, `{}`), NormalizationPercent: 100}
	if falls, _ := explain(plain, name); len(falls) > 0 {
		t.Errorf("a node that is not amplified has %+v", falls)
	}
}

// TestRawAmountsThatCannotBeAreAbsent: somebody wrote them, and nothing of them is left when they are gone.
func TestRawAmountsThatCannotBeAreAbsent(t *testing.T) {
	for _, raw := range []string{`{"memory":"1e-400"}`, `{"memory":"1"}`, `{"cpu":"1n"}`, `{"cpu":"-1"}`, `{"memory":"0"}`} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{extension.AnnotationNodeRawAllocatable: raw}}}
		node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("16"), "memory": resource.MustParse("64Gi")}
		out, trace := Show(node, node)
		if len(trace.Problems) != 1 || !strings.Contains(trace.Problems[0], "counts as absent") {
			t.Errorf("%s: problems %v", raw, trace.Problems)
		}
		if diff := cmp.Diff(node.Status.Allocatable, out.Status.Allocatable); diff != "" || out.Annotations[extension.AnnotationNodeRawAllocatable] != "" {
			t.Errorf("%s: allocatable (-want +got):\n%s\nannotations %v", raw, diff, out.Annotations)
		}
	}
}
