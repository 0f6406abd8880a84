package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/fixture"
)

func TestDescriptionOfANode(t *testing.T) {
	for name, tc := range map[string]struct {
		node        *nodeBuilder
		want, never []string
	}{
		"all is well": {
			node: makeNode("node-1").uses(8000, 2000, 1000).requests(16000).batch(10000, 4000).load(diagnostics.LoadNormal, "under the thresholds"),
			want: []string{"● Normal  node-1", "ready", "yes", "schedulable", "yes", "pods", "4", "NodeMetric", "fresh, 10s old, reported every 60s",
				"load", "Normal: under the thresholds", "RESOURCE", "CPU", "MEMORY", "capacity", "32", "128Gi", "prod requested", "16", "batch allocatable", "10"},
		},
		"not ready and cordoned": {
			node: makeNode("node-1").notReady().cordoned(), want: []string{"✗ NotReady", "ready", "no", "schedulable", "no"},
		},
		"nothing is known": {
			node:  makeNode("node-1").unreported(diagnostics.MetricAbsent).load(diagnostics.LoadUnknown, "").pods(nil),
			want:  []string{"? Unknown", "pods                     -", "NodeMetric               absent", "load                     Unknown", "used                               -           -"},
			never: []string{"old", "reported every", "Unknown:"},
		},
		"what load-aware scheduling goes by": {
			node: func() *nodeBuilder {
				b := makeNode("node-1").load(diagnostics.LoadHot, "cpu usage 78% > threshold 65%")
				b.Load.Operands = []diagnostics.Term{{Name: "cpuUsage", Value: 78, Unit: diagnostics.Percent}, {Name: "cpuThreshold", Value: 65, Unit: diagnostics.Percent}}
				return b
			}(),
			want: []string{"▲ Hot", "Hot: cpu usage 78% > threshold 65%", "LOAD-AWARE SCHEDULING", "cpu usage", "78%", "cpu threshold", "65%"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			r.clock.SetTime(builtAt)
			says(t, textOf(r.m.nodeDetail(&tc.node.NodeOverview, minWidth)), tc.want, tc.never)
		})
	}
}

func TestDescriptionOfAPod(t *testing.T) {
	for name, tc := range map[string]struct {
		pod         *podBuilder
		want, never []string
	}{
		"it runs": {
			pod: makePod("shop", "web-1").on("node-1").class("LS", "koord-prod").requests(2000, 4*gib).uses(500, gib),
			want: []string{"Running  shop/web-1", "node", "node-1", "qos", "LS", "priority band", "koord-prod", "requests in", "cpu plain, memory plain", "measured", "20s ago",
				"requested", "2", "limit", "-", "used", "0.50", "1Gi"},
			never: []string{"reason"},
		},
		"it waits": {
			pod:  makePod("shop", "web-1").pending("0/3 nodes are available: 3 Insufficient cpu."),
			want: []string{"Pending  shop/web-1", "reason", "0/3 nodes are available: 3 Insufficient cpu.", "node", "<none>", "qos", "<none>", "priority band", "<none>", "measured", "<none>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			r.clock.SetTime(builtAt)
			says(t, textOf(r.m.podDetail(&tc.pod.PodOverview, minWidth)), tc.want, tc.never)
		})
	}
}

func TestYAMLIsFoldedNotCut(t *testing.T) {
	r := newRig(t, 1)
	long := "  note: " + strings.Repeat("word ", 30) + "end"
	text := textOf(r.m.yamlText([]string{"kind: Pod", "metadata:", long, "  - item", "evil: \x1b[2J"}, 60))
	says(t, text, []string{"kind: Pod", "metadata:", "note: word word", "end", "- item", "evil:"}, []string{"\x1b"})
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 60 {
			t.Errorf("a line of %d cells: %q", n, line)
		}
	}
}

func TestKeysOfYAML(t *testing.T) {
	for line, want := range map[string]int{"kind: Pod": 5, "metadata:": 9, "- name: a": 7, "plain": 0, "url: http://x:80": 4, ": odd": 0, "": 0, "time: 10:30": 5} {
		if got := keyEnd(line); got != want {
			t.Errorf("the key of %q ends at %d, want %d", line, got, want)
		}
	}
}

// nothing answers with no node and no pod, and no error.
type nothing struct{ source.Source }

func (nothing) Nodes(context.Context, source.NodeQuery) (*diagnostics.NodeOverviewList, error) {
	return &diagnostics.NodeOverviewList{}, nil
}

func (nothing) Pods(context.Context, source.PodQuery) (*diagnostics.PodOverviewList, error) {
	return &diagnostics.PodOverviewList{}, nil
}

// refusing cannot read objects.
type refusing struct{ source.Source }

func (refusing) Object(_ context.Context, kind source.Kind, _, name string) (*unstructured.Unstructured, error) {
	return nil, errors.New("get " + kind.Name + " " + name + ": refused")
}

func TestDetailsThatFail(t *testing.T) {
	for name, tc := range map[string]struct {
		source  func(source.Source) source.Source
		command string
		want    string
	}{
		"an answer without the node": {func(s source.Source) source.Source { return nothing{s} }, ":describe node-0001", `error: describe node "node-0001": the answer has no node`},
		"an answer without the pod":  {func(s source.Source) source.Source { return nothing{s} }, ":describe shop/web-1", "error: describe pod shop/web-1: the answer has no pod"},
		"a node that there is not":   {func(s source.Source) source.Source { return s }, ":describe nope", `error: get nodes "nope": not found`},
		"a pod that there is not":    {func(s source.Source) source.Source { return s }, ":yaml shop/nope", `error: get pods "shop/nope": not found`},
		"an object that is refused":  {func(s source.Source) source.Source { return refusing{s} }, ":yaml shop/web-1", "error: get pod web-1: refused"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30)
			r.m.source = tc.source(r.src)
			r.start().press(tc.command, "enter")
			says(t, r.plain(), []string{tc.want}, nil)
		})
	}
}

// TestDescribeTurnsToYAMLInPlace: both are of the same object, and esc leaves both.
func TestDescribeTurnsToYAMLInPlace(t *testing.T) {
	r := newRig(t, 30).start().press("j", "d", "G", "y")
	if got := r.crumbs(); got != "nodes > yaml node node-0001" || r.m.page().scroll != 0 {
		t.Errorf("unexpected crumbs %q, scrolled to %d", got, r.m.page().scroll)
	}
	r.press("d", "esc")
	if got := r.crumbs(); got != "nodes" {
		t.Errorf("unexpected crumbs %q", got)
	}
}

// TestCommandsWithoutANameAreAboutWhatIsSeen, and say what is missing where nothing is.
func TestCommandsWithoutANameAreAboutWhatIsSeen(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		want seen
	}{
		"the node under the cursor":      {[]string{"j", ":describe", "enter"}, seen{Crumbs: "nodes > describe node node-0001"}},
		"the pod under the cursor":       {[]string{":pods shop", "enter", ":yaml", "enter"}, seen{Crumbs: "nodes > pods > yaml pod shop/catalog-0000"}},
		"the node of the page":           {[]string{":node node-0002", "enter", ":d", "enter"}, seen{Crumbs: "nodes > node-0002 > describe node node-0002"}},
		"the chart of a node":            {[]string{"v", ":y", "enter"}, seen{Crumbs: "nodes > chart > yaml node node-0000"}},
		"the chart of the whole cluster": {[]string{":chart", "enter", ":d", "enter"}, seen{Crumbs: "nodes > chart", Flash: "name required: :describe NODE|NAMESPACE/POD"}},
		"the help":                       {[]string{"?", ":y", "enter"}, seen{Crumbs: "nodes > help", Flash: "name required: :yaml NODE|NAMESPACE/POD"}},
		"a list without a row":           {[]string{":ns nowhere", "enter", ":y", "enter"}, seen{Crumbs: "nodes > pods", Flash: "name required: :yaml NODE|NAMESPACE/POD"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, newRig(t, 30).start().press(tc.keys...).seen()); diff != "" {
				t.Errorf("unexpected state (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheYAMLOfAnObjectLeavesOutManagedFields, as kubectl does.
func TestTheYAMLOfAnObjectLeavesOutManagedFields(t *testing.T) {
	r := newRig(t, 30)
	r.m.source = &fixture.Objects{Source: r.src}
	r.start().press(":yaml shop/search-0003", "enter")
	says(t, r.plain(), []string{"apiVersion: v1", "kind: Pod", "labels:", "app: search", "name: search-0003", "namespace: shop"}, []string{"managedFields", "kubelet"})
	r.pass(10 * time.Second)
	says(t, r.plain(), []string{"kind: Pod"}, []string{"stale,"})
}
