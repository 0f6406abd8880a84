package lownodeload

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/nodeload"
	"koordinator.sh/koord/descheduler/plugins/plugintest"
)

// moment at which the first pass of a test begins.
var moment = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// scene is a hot and a cold node, with what the plugin reads and evicts by.
type scene struct {
	*plugintest.Handle
	sources Sources
	nodes   []*corev1.Node
	metrics map[string]*slov1alpha1.NodeMetric
	now     time.Time
	failure error
}

func (s *scene) Reports(context.Context) (map[string]*nodeload.Report, error) {
	reports := map[string]*nodeload.Report{}
	for name, metric := range s.metrics {
		reports[name] = nodeload.Of(metric)
	}
	return reports, s.failure
}

func newScene() *scene {
	s := &scene{Handle: plugintest.NewHandle(nil, map[string][]*corev1.Pod{}), metrics: map[string]*slov1alpha1.NodeMetric{}, now: moment}
	s.sources = Sources{NodeMetrics: s, Store: &MemoryStore{}, Interval: func() time.Duration { return time.Hour }, Now: func() time.Time { return s.now }}
	s.add("hot", map[string]int64{"a": 1000, "b": 7000, "done": 0})
	s.Pods["hot"][2].Status.Phase = corev1.PodSucceeded
	s.add("cold", nil)
	return s
}

// add adds a node of 10 CPUs whose pods use some milliCPU each, in the order of their names.
func (s *scene) add(name string, pods map[string]int64) {
	s.nodes = append(s.nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("10Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}}})
	metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: name}}
	metric.Status.NodeMetric = &slov1alpha1.NodeMetricInfo{SystemUsage: usage(500)}
	for _, pod := range []string{"a", "b", "done"} {
		cpu, wanted := pods[pod]
		if !wanted {
			continue
		}
		s.Pods[name] = append(s.Pods[name], &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pod, UID: types.UID(pod), Annotations: map[string]string{}}, Spec: corev1.PodSpec{NodeName: name},
		})
		metric.Status.PodsMetric = append(metric.Status.PodsMetric, &slov1alpha1.PodMetricInfo{Namespace: "default", Name: pod, PodUsage: usage(cpu)})
	}
	s.metrics[name] = metric
}

func usage(cpu int64) slov1alpha1.ResourceMap {
	return slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("1Mi"),
	}}
}

// balance makes a pass with a new plugin, as after a restart.
func (s *scene) balance(t *testing.T, change func(*lownodeload.Args)) *frameworktypes.Status {
	t.Helper()
	args := &lownodeload.Args{PoolSettings: lownodeload.PoolSettings{
		LowThresholds: lownodeload.Thresholds{corev1.ResourceCPU: 45}, HighThresholds: lownodeload.Thresholds{corev1.ResourceCPU: 75},
		AnomalyCondition: &lownodeload.AnomalyCondition{ConsecutiveAbnormalities: 1},
	}}
	if change != nil {
		change(args)
	}
	lownodeload.SetDefaults(args)
	for _, metric := range s.metrics {
		metric.Status.UpdateTime = &metav1.Time{Time: s.now}
	}
	plugin, err := New(s.sources)(quiet(), args, s)
	if err != nil {
		t.Fatal(err)
	}
	return plugin.(frameworktypes.BalancePlugin).Balance(quiet(), s.nodes)
}

func TestPodsAreEvictedByTheEvictor(t *testing.T) {
	verdict := func(pod, verdict string) func(*scene) {
		return func(s *scene) {
			for _, one := range s.Pods["hot"] {
				if one.Name == pod {
					one.Annotations[plugintest.VerdictKey] = verdict
				}
			}
		}
	}
	tests := map[string]struct {
		scene func(*scene)
		args  func(*lownodeload.Args)
		want  []string
	}{
		"the pod that covers the excess":       {want: []string{"a"}},
		"another where it may not be evicted":  {scene: verdict("a", "filtered"), want: []string{"b"}},
		"another where its eviction fails":     {scene: verdict("a", "failing"), want: []string{"b"}},
		"none where the node's limit is met":   {scene: verdict("a", "last")},
		"none where the total limit is met":    {scene: func(s *scene) { s.Evicts.Total = 0 }},
		"none in a dry run":                    {args: func(a *lownodeload.Args) { a.DryRun = new(true) }},
		"none when the node has no NodeMetric": {scene: func(s *scene) { delete(s.metrics, "hot") }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			if tc.scene != nil {
				tc.scene(s)
			}
			if status := s.balance(t, tc.args); status != nil && status.Err != nil {
				t.Fatal(status.Err)
			}
			if diff := cmp.Diff(tc.want, s.Evicts.Evicted); diff != "" {
				t.Errorf("evicted (-want +got):\n%s", diff)
			}
			for _, reason := range s.Evicts.Reasons {
				if !strings.HasPrefix(reason, "node is overutilized, node cpu usage(85.00%)>threshold(75.00%)") {
					t.Errorf("reason %q", reason)
				}
			}
		})
	}
}

// TestCountsSurviveRestartsAndLongIntervals: every pass is made by a new plugin, an hour after the last.
func TestCountsSurviveRestartsAndLongIntervals(t *testing.T) {
	s := newScene()
	for pass := 1; pass <= 3; pass++ {
		if status := s.balance(t, func(a *lownodeload.Args) { a.AnomalyCondition.ConsecutiveAbnormalities = 2 }); status != nil && status.Err != nil {
			t.Fatal(status.Err)
		}
		if evicted := len(s.Evicts.Evicted); evicted != pass/3 {
			t.Fatalf("%d pods evicted after pass %d, want the first in pass 3", evicted, pass)
		}
		s.now = s.now.Add(time.Hour)
	}
}

// brokenStore fails to load or to save.
type brokenStore struct{ load, save error }

func (b brokenStore) Load(context.Context, string) (lownodeload.History, error) {
	return lownodeload.History{}, b.load
}

func (b brokenStore) Save(context.Context, string, lownodeload.History) error { return b.save }

func TestFailuresAreReported(t *testing.T) {
	failure := errors.New("the API server is away")
	tests := map[string]struct {
		change      func(*scene)
		want        string
		wantEvicted int
	}{
		"the history cannot be loaded": {func(s *scene) { s.sources.Store = brokenStore{load: failure} }, "load which nodes were overutilized: the API server is away", 0},
		"the history cannot be saved":  {func(s *scene) { s.sources.Store = brokenStore{save: failure} }, "save which nodes were overutilized: the API server is away", 1},
		"NodeMetrics cannot be listed": {func(s *scene) { s.failure = failure }, "the API server is away", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			tc.change(s)
			status := s.balance(t, nil)
			if status == nil || status.Err == nil || status.Err.Error() != tc.want || !errors.Is(status.Err, failure) {
				t.Errorf("status %+v, want %q", status, tc.want)
			}
			if len(s.Evicts.Evicted) != tc.wantEvicted {
				t.Errorf("evicted %v, want %d", s.Evicts.Evicted, tc.wantEvicted)
			}
		})
	}
}

func TestAHandleWithoutAClientNeedsALister(t *testing.T) {
	args := &lownodeload.Args{}
	lownodeload.SetDefaults(args)
	if _, err := New(Sources{})(quiet(), args, &plugintest.Handle{}); err == nil || err.Error() != "the handle of LowNodeLoad has no client that reads NodeMetrics" {
		t.Errorf("error %v", err)
	}
}
