package live

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

// labelled gives a node a label, and finished ends a pod.
func labelled(key, value string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels = map[string]string{key: value} }
}

func finished(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }

func measuredCluster() *clusterBuilder {
	return makeCluster().node("worker-2", labelled("pool", "gold")).node("worker-1").
		usage("worker-1", "6", 42*time.Second).usage("worker-2", "20", 20*time.Minute).
		pod("shop", "web-0", "worker-1", "4").pod("shop", "web-1", "", "4").pod("spark", "etl", "worker-1", "2").pod("spark", "done", "worker-1", "8", finished)
}

func TestNodesAreSelected(t *testing.T) {
	tests := map[string]struct {
		query source.NodeQuery
		want  []string
	}{
		"all, by name":   {source.NodeQuery{}, []string{"worker-1", "worker-2"}},
		"one":            {source.NodeQuery{Names: []string{"worker-2"}}, []string{"worker-2"}},
		"two":            {source.NodeQuery{Names: []string{"worker-2", "worker-1"}}, []string{"worker-1", "worker-2"}},
		"by label":       {source.NodeQuery{LabelSelector: "pool=gold"}, []string{"worker-2"}},
		"by field":       {source.NodeQuery{FieldSelector: "metadata.name=worker-1"}, []string{"worker-1"}},
		"by both":        {source.NodeQuery{LabelSelector: "pool=gold", FieldSelector: "metadata.name=worker-1"}, nil},
		"by what is not": {source.NodeQuery{LabelSelector: "pool=lead"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := measuredCluster().source(t).Nodes(t.Context(), tc.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range list.Items {
				got = append(got, list.Items[i].Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || list.Items == nil {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNodesHaveWhatTheirPodsRequestAndTheyUse(t *testing.T) {
	list, err := measuredCluster().source(t).Nodes(t.Context(), source.NodeQuery{})
	if err != nil {
		t.Fatal(err)
	}
	first, second := &list.Items[0], &list.Items[1]
	if *first.Pods != 2 || *first.CPU.ProdRequested != 6000 || *first.CPU.Used != 6000 {
		t.Errorf("worker-1 has %d pods that request %d and uses %d, want 2, 6000 and 6000: what finished holds nothing", *first.Pods, *first.CPU.ProdRequested, *first.CPU.Used)
	}
	if first.Metric.State != diagnosticsv1alpha1.MetricFresh || second.Metric.State != diagnosticsv1alpha1.MetricExpired || *second.Pods != 0 {
		t.Errorf("metrics %+v and %+v", first.Metric, second.Metric)
	}
}

func TestPodsAreSelected(t *testing.T) {
	tests := map[string]struct {
		query source.PodQuery
		want  []string
	}{
		"of all namespaces":     {source.PodQuery{}, []string{"shop/web-0", "shop/web-1", "spark/done", "spark/etl"}},
		"of one":                {source.PodQuery{Namespace: "spark"}, []string{"spark/done", "spark/etl"}},
		"one":                   {source.PodQuery{Namespace: "shop", Names: []string{"web-1"}}, []string{"shop/web-1"}},
		"of a node":             {source.PodQuery{NodeName: "worker-1"}, []string{"shop/web-0", "spark/done", "spark/etl"}},
		"of a node, by name":    {source.PodQuery{Namespace: "shop", NodeName: "worker-1", Names: []string{"web-0"}}, []string{"shop/web-0"}},
		"by field":              {source.PodQuery{FieldSelector: "status.phase=Pending"}, []string{"shop/web-1"}},
		"by field, of a node":   {source.PodQuery{FieldSelector: "status.phase=Succeeded", NodeName: "worker-1"}, []string{"spark/done"}},
		"of an empty namespace": {source.PodQuery{Namespace: "empty"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := measuredCluster().source(t).Pods(t.Context(), tc.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range list.Items {
				got = append(got, list.Items[i].Namespace+"/"+list.Items[i].Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || list.Items == nil {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPodsAreListedWithoutWhatTheyUse: NodeMetrics that nobody asks for are not read, nor missed where they may not be.
func TestPodsAreListedWithoutWhatTheyUse(t *testing.T) {
	for noUse, wantIncomplete := range map[bool]int{false: 1, true: 0} {
		list, err := measuredCluster().denied("list nodemetrics").source(t).Pods(t.Context(), source.PodQuery{NoUse: noUse})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != 4 || len(list.Incomplete) != wantIncomplete {
			t.Errorf("NoUse %t: %d pods, incomplete %q, want 4 pods and %d", noUse, len(list.Items), list.Incomplete, wantIncomplete)
		}
	}
}

func TestNamesThatNoObjectHasAreErrors(t *testing.T) {
	src := measuredCluster().source(t)
	for wantErr, ask := range map[string]func() error{
		`node "worker-3" not found, did you mean "worker-`: func() error {
			_, err := src.Nodes(t.Context(), source.NodeQuery{Names: []string{"worker-3"}})
			return err
		},
		`node "nowhere" not found`: func() error {
			_, err := src.Nodes(t.Context(), source.NodeQuery{Names: []string{"worker-1", "nowhere"}})
			return err
		},
		`pod "web-7" not found in namespace "shop", did you mean "web-`: func() error {
			_, err := src.Pods(t.Context(), source.PodQuery{Namespace: "shop", Names: []string{"web-7"}})
			return err
		},
		`pod "web-1" not found in namespace "shop"`: func() error { // it is on no node
			_, err := src.Pods(t.Context(), source.PodQuery{Namespace: "shop", Names: []string{"web-1"}, NodeName: "worker-1"})
			return err
		},
	} {
		if err := ask(); err == nil || !strings.HasPrefix(err.Error(), wantErr) || !hasCode(err, finding.NotFound) {
			t.Errorf("error %v, want %q", err, wantErr)
		}
	}
}

// TestAnswersSayWhatTheyLack: each input that an answer can do without is named, with what is unknown because of it.
func TestAnswersSayWhatTheyLack(t *testing.T) {
	tests := map[string]struct {
		denied string
		want   string
	}{
		"pods":       {"list pods", "list pods: not permitted for user \"eve\"; what pods request is unknown (KOORD0002)"},
		"metrics":    {"list nodemetrics", "list nodemetrics.slo.koordinator.sh: not permitted for user \"eve\"; what is used is unknown (KOORD0002)"},
		"the config": {"get configmaps", "the built-in settings say when measurements are stale"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := measuredCluster().denied(tc.denied).source(t).Nodes(t.Context(), source.NodeQuery{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(list.Incomplete, func(line string) bool { return strings.Contains(line, tc.want) }) {
				t.Errorf("incomplete %q, want %q", list.Incomplete, tc.want)
			}
			if len(list.Items) != 2 {
				t.Errorf("%d nodes", len(list.Items))
			}
		})
	}
}
