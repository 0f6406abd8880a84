package kubectlplugin

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/workersview"
)

// named makes items of a name each, which edit fills in.
func named[T any](setName func(*T, string), edits map[string]func(*T)) []T {
	var items []T
	for _, name := range slices.Sorted(maps.Keys(edits)) {
		var item T
		setName(&item, name)
		edits[name](&item)
		items = append(items, item)
	}
	return items
}

func ago(d time.Duration) *metav1.Time { return &metav1.Time{Time: testNow.Add(-d)} }

func TestNodesAreOrderedByEachWord(t *testing.T) {
	nodes := named(func(n *node, name string) { n.Name = name }, map[string]func(*node){
		"a": func(n *node) {
			n.Load.State, n.CPU.Used, n.Memory.Used, n.CPU.ProdUsed = diagnosticsv1alpha1.LoadNormal, new(int64(4000)), new(int64(9)), new(int64(1))
			n.CPU.BatchAllocatable, n.Memory.BatchAllocatable, n.Metric.UpdateTime = new(int64(100)), new(int64(5)), ago(time.Minute)
			n.Balance = &diagnosticsv1alpha1.BalanceOverview{State: diagnosticsv1alpha1.BalanceUnderutilized}
		},
		"b": func(n *node) {
			n.Load.State, n.CPU.Used, n.Memory.Used, n.CPU.ProdUsed = diagnosticsv1alpha1.LoadHot, new(int64(12000)), new(int64(3)), new(int64(7))
			n.CPU.BatchAllocatable, n.Memory.BatchAllocatable, n.Metric.UpdateTime = new(int64(900)), new(int64(1)), ago(time.Hour)
			n.Balance = &diagnosticsv1alpha1.BalanceOverview{State: diagnosticsv1alpha1.BalanceNormal}
		},
		"c": func(n *node) { n.Load.State = diagnosticsv1alpha1.LoadExpired }, // not measured
		"d": func(n *node) {
			n.Load.State, n.CPU.Used = "Later", new(int64(0))
			n.Balance = &diagnosticsv1alpha1.BalanceOverview{State: diagnosticsv1alpha1.BalanceOverutilized}
		},
	})
	wants := map[string]string{
		"name": "abcd", "load": "bcad", "balance": "dbac", "age": "cdba", "cpu": "badc", "memory": "abcd", "prod-cpu": "bacd", "batch-cpu": "bacd", "batch-memory": "abcd",
	}
	checkOrders(t, nodes, nodeOrders, wants, func(n *node) string { return n.Name })
}

func TestPodsAreOrderedByEachWord(t *testing.T) {
	pods := named(func(p *pod, name string) { p.Name = name }, map[string]func(*pod){
		"a": func(p *pod) {
			p.NodeName, p.QoSClass, p.CPU.Used, p.CPU.Requested, p.Memory.Requested = "n2", "LS", new(int64(5)), 100, 7
		},
		"b": func(p *pod) {
			p.NodeName, p.QoSClass, p.Memory.Used, p.CPU.Requested, p.Memory.Requested = "n1", "BE", new(int64(5)), 300, 2
		},
		"c": func(p *pod) { p.QoSClass, p.CPU.Used = "LSR", new(int64(9)) }, // has no node
	})
	wants := map[string]string{"name": "abc", "node": "cba", "qos": "bac", "cpu": "cab", "memory": "bac", "cpu-request": "bac", "memory-request": "abc"}
	checkOrders(t, pods, podOrders, wants, func(p *pod) string { return p.Name })
}

func TestRecommendationsAreOrderedByEachWord(t *testing.T) {
	container := func(cpu, memory *int64) []diagnosticsv1alpha1.ContainerRecommendation {
		return []diagnosticsv1alpha1.ContainerRecommendation{{
			CPU: diagnosticsv1alpha1.ResourceRecommendation{Savings: cpu}, Memory: diagnosticsv1alpha1.ResourceRecommendation{Savings: memory},
		}}
	}
	items := named(func(r *recommendation, name string) { r.Name = name }, map[string]func(*recommendation){
		"a": func(r *recommendation) {
			r.Target, r.UpdatedAt, r.Containers = "Deployment/z", ago(time.Minute), slices.Concat(container(new(int64(3)), nil), container(new(int64(4)), nil))
		},
		"b": func(r *recommendation) {
			r.Target, r.UpdatedAt, r.Containers = "DaemonSet/a", ago(time.Hour), container(new(int64(5)), new(int64(-2)))
		},
		"c": func(r *recommendation) { r.Target = "StatefulSet/m" }, // not processed yet
	})
	wants := map[string]string{"name": "abc", "target": "bac", "cpu-savings": "abc", "memory-savings": "bac", "age": "cba"}
	checkOrders(t, items, recommendationOrders, wants, func(r *recommendation) string { return r.Name })
}

func TestElasticWorkersAreOrderedByEachWord(t *testing.T) {
	items := named(func(w *workersOverview, name string) { w.Name = name }, map[string]func(*workersOverview){
		"a": func(w *workersOverview) { w.State, w.Current, w.Desired = workersview.Sized, 3, 9 },
		"b": func(w *workersOverview) { w.State, w.Current, w.Desired = workersview.Stale, 7, 1 },
		"c": func(w *workersOverview) {
			w.State, w.Current, w.Desired, w.Draining = "TargetShared", 5, 5, make([]diagnosticsv1alpha1.DrainingWorker, 2)
		},
	})
	wants := map[string]string{"name": "abc", "state": "cba", "current": "bca", "desired": "acb", "draining": "cab"}
	checkOrders(t, items, workersOrders, wants, func(w *workersOverview) string { return w.Name })
}

// checkOrders orders the items by every word, of which none may lack an expectation.
func checkOrders[T any](t *testing.T, items []T, orders []order[T], wants map[string]string, name func(*T) string) {
	t.Helper()
	for _, o := range orders {
		want, expected := wants[o.name]
		if !expected {
			t.Errorf("nothing is expected of --sort-by=%s", o.name)
			continue
		}
		sorted := slices.Clone(items)
		slices.SortStableFunc(sorted, func(a, b T) int { return o.compare(&a, &b) })
		var got strings.Builder
		for i := range sorted {
			got.WriteString(name(&sorted[i]))
		}
		if got.String() != want {
			t.Errorf("--sort-by=%s orders %s, want %s", o.name, got.String(), want)
		}
		for i := range items {
			if o.compare(&items[i], &items[i]) != 0 {
				t.Errorf("--sort-by=%s puts %s before itself", o.name, name(&items[i]))
			}
		}
	}
}

func TestOrdersByAPath(t *testing.T) {
	items := named(func(n *node, name string) { n.Name = name }, map[string]func(*node){
		"a": func(n *node) { n.CPU.Capacity, n.Unschedulable = 9000, true },
		"b": func(n *node) {
			n.CPU.Capacity, n.CPU.Used, n.Labels = 10000, new(int64(7)), map[string]string{"pool": "x"}
		},
		"c": func(n *node) { n.CPU.Capacity, n.Labels = 800, map[string]string{"pool": "a"} },
	})
	tests := map[string]struct{ by, want, wantErr string }{
		"nothing":                {"", "abc", ""},
		"numbers as numbers":     {".cpu.capacity", "cab", ""},
		"with braces":            {"{.cpu.capacity}", "cab", ""},
		"without the dot":        {"cpu.capacity", "cab", ""},
		"text":                   {".metadata.name", "abc", ""},
		"a label":                {".metadata.labels.pool", "acb", ""},
		"what lacks it is first": {".cpu.used", "acb", ""},
		"truth":                  {".unschedulable", "bca", ""},
		"a word":                 {"name", "abc", ""},
		"a field nobody has":     {".gpu", "", `--sort-by ".gpu": no item has this field; must be age, balance, batch-cpu, batch-memory, cpu, load, memory, name, prod-cpu, or a JSONPath such as .cpu.used`},
		"unbalanced braces":      {"{.cpu", "", `order: path "{.cpu": unbalanced braces`},
		"no path":                {".cpu[", "", `order: path ".cpu[": unterminated array`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sorted := slices.Clone(items)
			err := sortItems(sorted, nodeOrders, tc.by)
			if tc.wantErr != "" {
				if err == nil || err.Error() != tc.wantErr {
					t.Errorf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			got := ""
			for i := range sorted {
				got += sorted[i].Name
			}
			if err != nil || got != tc.want {
				t.Errorf("%s, %v, want %s", got, err, tc.want)
			}
		})
	}
	if err := sortItems([]node{}, nodeOrders, ".gpu"); err != nil {
		t.Errorf("nothing to order: %v", err)
	}
}

func TestOrdersAreCheckedBeforeAnythingIsAsked(t *testing.T) {
	known := []string{"cpu", "name"}
	for by, wantErr := range map[string]string{
		"":        "",
		"cpu":     "",
		".cpu.x":  "",
		"{.a}":    "",
		"speed":   `--sort-by "speed": must be cpu, name, or a JSONPath such as .cpu.used`,
		"{.speed": `--sort-by: path "{.speed": unbalanced braces`,
		"{}.":     `--sort-by: path "{}.": unbalanced braces`,
	} {
		text := ""
		if err := checkOrder(by, known); err != nil {
			text = err.Error()
			if ExitCode(err) != ExitUsage {
				t.Errorf("%q: exit code %d", by, ExitCode(err))
			}
		}
		if text != wantErr {
			t.Errorf("%q: %q, want %q", by, text, wantErr)
		}
	}
}

func TestAWatchKeepsWhatIsNewOrDifferent(t *testing.T) {
	type thing struct {
		Name  string
		Value int
	}
	tests := map[string]struct{ before, now, want []thing }{
		"nothing changed": {[]thing{{"a", 1}}, []thing{{"a", 1}}, nil},
		"another value":   {[]thing{{"a", 1}, {"b", 1}}, []thing{{"a", 1}, {"b", 2}}, []thing{{"b", 2}}},
		"a new one":       {[]thing{{"a", 1}}, []thing{{"a", 1}, {"b", 1}}, []thing{{"b", 1}}},
		"one that went":   {[]thing{{"a", 1}, {"b", 1}}, []thing{{"a", 1}}, nil},
		"another order":   {[]thing{{"a", 1}, {"b", 1}}, []thing{{"b", 1}, {"a", 1}}, nil},
		"the first ones":  {nil, []thing{{"b", 1}, {"a", 1}}, []thing{{"b", 1}, {"a", 1}}},
	}
	for name, tc := range tests {
		if diff := cmp.Diff(tc.want, different(tc.before, tc.now, func(t *thing) string { return t.Name })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
