package scenario

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"koordinator.sh/koord/api/extension"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var sandboxSizes = []int{1, 12, 30, 1000}

func TestScenarioIsAsWrittenDown(t *testing.T) {
	for _, name := range Names() {
		for _, nodes := range sandboxSizes {
			t.Run(fmt.Sprint(name, nodes), func(t *testing.T) {
				golden(t, fmt.Sprintf("%s-%d", name, nodes), describeNodes(Nodes(nodes))+describeWaves(wavesOf(t, name, nodes)))
			})
		}
	}
}

func TestScenarioIsTheSameEveryTime(t *testing.T) {
	for _, nodes := range sandboxSizes {
		if diff := cmp.Diff(Nodes(nodes), Nodes(nodes)); diff != "" {
			t.Errorf("%d nodes (-first +second):\n%s", nodes, diff)
		}
		if diff := cmp.Diff(waves(t, nodes), waves(t, nodes)); diff != "" {
			t.Errorf("workloads of %d nodes (-first +second):\n%s", nodes, diff)
		}
	}
}

// TestALargerSandboxKeepsTheNodes: a sandbox that grows must not have to change the nodes it has.
func TestALargerSandboxKeepsTheNodes(t *testing.T) {
	large := Nodes(1000)
	for _, nodes := range []int{0, 1, 12, 13, 30} {
		if diff := cmp.Diff(large[:nodes], Nodes(nodes)); diff != "" {
			t.Errorf("%d nodes (-of 1000 +of %[1]d):\n%s", nodes, diff)
		}
	}
}

func TestUnknownScenario(t *testing.T) {
	_, err := Workloads("colocatoin", 30)
	if err == nil || !strings.Contains(err.Error(), `unknown scenario "colocatoin", must be one of [colocation skewed]`) {
		t.Errorf("Workloads() = %v; want an error that names those there are", err)
	}
}

func TestSpecialNodes(t *testing.T) {
	tests := map[int]struct{ wantHot, wantStale string }{
		0: {}, 6: {}, 7: {wantHot: "sim-0007"}, 12: {wantHot: "sim-0007"}, 13: {"sim-0007", "sim-0013"}, 5000: {"sim-0007", "sim-0013"},
	}
	for nodes, tc := range tests {
		if hot, stale := HotNode(nodes), StaleNode(nodes); hot != tc.wantHot || stale != tc.wantStale {
			t.Errorf("special nodes of %d = %q, %q; want %q, %q", nodes, hot, stale, tc.wantHot, tc.wantStale)
		}
		for _, node := range Nodes(nodes) {
			if got := IsFrozen(node); got != (node.Name == tc.wantStale) {
				t.Errorf("IsFrozen(%s) of %d nodes = %t", node.Name, nodes, got)
			}
		}
	}
}

func TestNodesAreSound(t *testing.T) {
	seen := map[string]bool{}
	for _, node := range Nodes(5000) {
		wantName(t, "node", node.Name)
		if seen[node.Name] {
			t.Errorf("two nodes are called %q", node.Name)
		}
		seen[node.Name] = true
		wantLabels(t, node.Name, node.Labels)
		if node.Labels[corev1.LabelHostname] != node.Name {
			t.Errorf("node %q has hostname %q", node.Name, node.Labels[corev1.LabelHostname])
		}
		for name, capacity := range node.Status.Capacity {
			allocatable, ok := node.Status.Allocatable[name]
			if !ok || allocatable.Sign() <= 0 || allocatable.Cmp(capacity) > 0 {
				t.Errorf("node %q offers %s of %s %s", node.Name, allocatable.String(), capacity.String(), name)
			}
		}
	}
}

func TestWorkloadsAreSound(t *testing.T) {
	for _, of := range everyScenario() {
		nodes := of.nodes
		namespaces, seen := map[string]bool{}, map[string]bool{}
		for i, wave := range wavesOf(t, of.name, nodes) {
			for _, object := range wave.Objects {
				meta, ok := object.(metav1.Object)
				if !ok {
					t.Fatalf("%T is no object", object)
				}
				kind := object.GetObjectKind().GroupVersionKind()
				if kind.Version == "" || kind.Kind == "" {
					t.Errorf("%T %q does not say its kind", object, meta.GetName())
				}
				if key := kind.Kind + meta.GetNamespace() + "/" + meta.GetName(); seen[key] {
					t.Errorf("%s is made twice", key)
				} else {
					seen[key] = true
				}
				wantName(t, kind.Kind, meta.GetName())
				wantLabels(t, meta.GetName(), meta.GetLabels())
				if kind.Kind == "Namespace" {
					namespaces[meta.GetName()] = true
					continue
				}
				if !namespaces[meta.GetNamespace()] {
					t.Errorf("wave %d needs namespace %q, which no wave before it made", i, meta.GetNamespace())
				}
				if kind.Kind != "PodDisruptionBudget" {
					checkPods(t, nodes, object)
				}
			}
		}
	}
}

// TestEveryWaitComesToAnEnd: a wave waits only for pods that it makes.
func TestEveryWaitComesToAnEnd(t *testing.T) {
	for _, of := range everyScenario() {
		nodes := of.nodes
		for i, wave := range wavesOf(t, of.name, nodes) {
			if wave.AwaitBound == "" {
				continue
			}
			selector, err := labels.Parse(wave.AwaitBound)
			if err != nil {
				t.Fatal(err)
			}
			makes := slices.ContainsFunc(wave.Objects, func(object runtime.Object) bool {
				template, _, _ := podsOf(object)
				return template != nil && object.(metav1.Object).GetNamespace() == wave.Namespace && selector.Matches(labels.Set(template.Labels))
			})
			if !makes {
				t.Errorf("wave %d of %d nodes waits for %q in %q, which it does not make", i, nodes, wave.AwaitBound, wave.Namespace)
			}
		}
	}
}

// TestServicesFit: what the services request must have room, or nothing is left to tell about co-location.
func TestServicesFit(t *testing.T) {
	for _, nodes := range []int{3, 12, 30, 100, 1000, 5000} {
		var offered, requested int64
		for _, node := range Nodes(nodes) {
			offered += node.Status.Allocatable.Cpu().MilliValue()
		}
		for _, wave := range waves(t, nodes) {
			for _, object := range wave.Objects {
				if template, replicas, ok := podsOf(object); ok && object.(metav1.Object).GetName() != "cache-warmup" {
					requested += int64(replicas) * template.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
				}
			}
		}
		if share := float64(requested) / float64(offered); share < 0.4 || share > 0.8 {
			t.Errorf("services request %.0f%% of the cpu of %d nodes; want 40 to 80", 100*share, nodes)
		}
	}
}

// checkPods checks the pods that an object is or makes.
func checkPods(t *testing.T, nodes int, object runtime.Object) {
	t.Helper()
	template, _, ok := podsOf(object)
	if !ok {
		t.Errorf("%T is of a kind this test does not know", object)
		return
	}
	name := object.(metav1.Object).GetName()
	wantLabels(t, name, template.Labels)
	if deployment, ok := object.(*appsv1.Deployment); ok {
		selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
		if err != nil || selector.Empty() || !selector.Matches(labels.Set(template.Labels)) {
			t.Errorf("%s selects %s, %v; want its own pods", name, selector, err)
		}
	}
	if template.Spec.SchedulerName != "koord-scheduler" {
		t.Errorf("%s is scheduled by %q", name, template.Spec.SchedulerName)
	}
	if host := template.Spec.NodeSelector[corev1.LabelHostname]; host != "" && host != HotNode(nodes) {
		t.Errorf("%s insists on node %q of %d", name, host, nodes)
	}
	resources := template.Spec.Containers[0].Resources
	if extension.QoSClass(template.Labels[extension.LabelPodQoS]) != extension.QoSBE {
		if template.Spec.PriorityClassName != "koord-prod" {
			t.Errorf("service %s has priority class %q", name, template.Spec.PriorityClassName)
		}
		return
	}
	if template.Spec.PriorityClassName != "koord-batch" {
		t.Errorf("batch pod %s has priority class %q", name, template.Spec.PriorityClassName)
	}
	want := []corev1.ResourceName{extension.BatchCPU, extension.BatchMemory}
	if got := slices.Sorted(maps.Keys(resources.Requests)); !cmp.Equal(got, want) {
		t.Errorf("batch pod %s requests %v; want batch resources alone", name, got)
	}
	if diff := cmp.Diff(resources.Requests, resources.Limits); diff != "" {
		t.Errorf("batch pod %s (-requests +limits):\n%s", name, diff)
	}
}

// podsOf returns the pods that an object is or makes, and how many of them at a time.
func podsOf(object runtime.Object) (template *corev1.PodTemplateSpec, replicas int32, ok bool) {
	switch o := object.(type) {
	case *corev1.Pod:
		return &corev1.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}, 1, true
	case *appsv1.Deployment:
		return &o.Spec.Template, *o.Spec.Replicas, true
	case *batchv1.Job:
		return &o.Spec.Template, *o.Spec.Parallelism, true
	}
	return nil, 0, false
}

// sized is a scenario in a sandbox of a size.
type sized struct {
	name  string
	nodes int
}

func everyScenario() (all []sized) {
	for _, name := range Names() {
		for _, nodes := range sandboxSizes {
			all = append(all, sized{name, nodes})
		}
	}
	return all
}

func waves(t *testing.T, nodes int) []Wave { return wavesOf(t, Colocation, nodes) }

func wavesOf(t *testing.T, name string, nodes int) []Wave {
	t.Helper()
	waves, err := Workloads(name, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return waves
}

func wantName(t *testing.T, kind, name string) {
	t.Helper()
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		t.Errorf("%s %q: %v", kind, name, problems)
	}
}

func wantLabels(t *testing.T, name string, set map[string]string) {
	t.Helper()
	for key, value := range set {
		if problems := slices.Concat(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)); len(problems) > 0 {
			t.Errorf("label %q=%q of %q: %v", key, value, name, problems)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (-update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
