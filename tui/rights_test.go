package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/fixture"
)

// limited is a cluster as a user with few rights sees it.
type limited struct {
	fixture.Source
	// nodes, pods of nodes and metrics may be read.
	nodes, pods, metrics bool
	// namespace whose pods may be listed, and that of the context.
	namespace, context string
}

func notPermitted(what string) error {
	return finding.Wrap(fmt.Errorf("%s: not permitted for user %q", what, "eve"), finding.Forbidden, "")
}

func notFound(kind source.Kind, key string) error {
	return finding.Wrap(fmt.Errorf("get %s %q: not found", kind.Plural, key), finding.NotFound, "kubectl get "+kind.Plural)
}

func (l limited) Describe(ctx context.Context) (source.Cluster, error) {
	c, err := l.Source.Describe(ctx)
	c.Namespace = l.context
	return c, err
}

func (l limited) Nodes(ctx context.Context, query source.NodeQuery) (*diagnostics.NodeOverviewList, error) {
	if !l.nodes {
		return nil, notPermitted("list nodes")
	}
	list, err := l.Source.Nodes(ctx, query)
	for i := range list.Items {
		n := &list.Items[i]
		if !l.pods {
			n.Pods = nil
		}
		for _, r := range []*diagnostics.ResourceOverview{&n.CPU, &n.Memory} {
			if !l.pods {
				r.ProdRequested, r.MidRequested, r.BatchRequested = nil, nil, nil
			}
			if !l.metrics {
				r.Used, r.SystemUsed, r.ProdUsed, r.MidUsed, r.BatchUsed, r.FreeUsed, r.Reclaimable = nil, nil, nil, nil, nil, nil, nil
			}
		}
		if !l.metrics {
			n.Metric = diagnostics.MetricFacts{State: diagnostics.MetricUnknown}
			n.Load = diagnostics.LoadOverview{State: diagnostics.LoadUnknown}
			if n.Balance != nil {
				n.Balance = &diagnostics.BalanceOverview{State: diagnostics.BalanceUnknown, Plugin: n.Balance.Plugin, Message: "no permission to read the NodeMetrics"}
			}
		}
	}
	if !l.metrics {
		list.Unknown = []diagnostics.UnknownInput{{Input: "nodemetrics.slo.koordinator.sh", Reason: diagnostics.UnknownForbidden}}
	}
	return list, err
}

func (l limited) Pods(ctx context.Context, query source.PodQuery) (*diagnostics.PodOverviewList, error) {
	if query.Namespace != l.namespace {
		return nil, notPermitted("list pods")
	}
	list, err := l.Source.Pods(ctx, query)
	for i := range list.Items {
		list.Items[i].CPU.Used, list.Items[i].Memory.Used = nil, nil
	}
	return list, err
}

func (l limited) Workloads(ctx context.Context, query source.WorkloadQuery) (*diagnostics.WorkloadOverviewList, error) {
	if query.Namespace != l.namespace {
		return nil, notPermitted("list pods")
	}
	list, err := l.Source.Workloads(ctx, query)
	for i := range list.Items {
		for _, r := range []*diagnostics.WorkloadResource{&list.Items[i].CPU, &list.Items[i].Memory} {
			r.Used, r.Idle, r.Recommended = nil, nil, nil
		}
	}
	return list, err
}

func TestAUserSeesWhatHeMayList(t *testing.T) {
	tests := map[string]struct {
		rights limited
		keys   []string
		// want and never are parts of the screen.
		want, never []string
	}{
		"a tenant is led to the pods of the context's namespace": {
			limited{namespace: "shop", context: "shop"}, nil,
			[]string{"pods(shop)", "catalog-0000", "-/", "showing the pods of namespace shop", "unknown: no permission to list nodes"}, []string{"0 nodes", "error:"},
		},
		"the error is one key away": {limited{namespace: "shop", context: "shop"}, []string{"esc"}, []string{"error: list nodes: not permitted"}, []string{"0 nodes"}},
		"of all namespaces a tenant gets his own": {
			limited{namespace: "shop", context: "shop"}, []string{"0"}, []string{"pods(shop)", "catalog-0000"}, []string{"error:"},
		},
		"of the workloads of all namespaces a tenant gets those of his own": {
			limited{namespace: "shop", context: "shop"}, []string{":workloads", "enter"},
			[]string{"workloads(shop)", "checkout", "-/", "showing the workloads of namespace shop"}, []string{"error:", "node-agent"},
		},
		"who may list nothing reads which right is missing": {limited{namespace: "-", context: "shop"}, nil, []string{"error: list pods: not permitted", "pods(shop)"}, []string{"no pods in"}},
		"nodes without pods": {limited{nodes: true, metrics: true}, []string{"ctrl+w"}, []string{"node-0000", "prod requests unknown"}, []string{"prod requests 0"}},
		"nodes without measurements": {limited{nodes: true, pods: true}, nil, []string{"node-0000", "uses unknown", "used unknown", "with unknown load"},
			[]string{"without data", "<none>", "used 0"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30)
			tc.rights.Source = r.src.Source
			r.src.Source = tc.rights
			r.start()
			r.resize(200, 40)
			screen := r.press(tc.keys...).screen()
			for _, want := range tc.want {
				if !strings.Contains(screen, want) {
					t.Errorf("the screen lacks %q:\n%s", want, screen)
				}
			}
			for _, never := range tc.never {
				if strings.Contains(screen, never) {
					t.Errorf("the screen says %q:\n%s", never, screen)
				}
			}
		})
	}
}
