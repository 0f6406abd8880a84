package state

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/test/eventually"
)

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func newPod(name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}, Spec: corev1.PodSpec{NodeName: node}}
}

// names lists the pods of a node with the seconds since they were assigned.
func names(assigned Assigned) map[string]float64 {
	list := map[string]float64{}
	for _, pod := range assigned.Pods {
		list[pod.Pod.Name] = now.Sub(pod.AssignedAt).Seconds()
	}
	return list
}

func TestAssignments(t *testing.T) {
	scheduled := func(pod *corev1.Pod, ago time.Duration) *corev1.Pod {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: now.Add(-ago)}}}
		return pod
	}
	finished := newPod("a", "n")
	finished.Status.Phase = corev1.PodSucceeded
	tests := []struct {
		name string
		do   func(*assignments)
		want map[string]float64
	}{
		{"a reserved pod counts from its reservation", func(a *assignments) { a.reserve(newPod("a", ""), "n", now.Add(-time.Second)) }, map[string]float64{"a": 1}},
		{"a reservation can be taken back", func(a *assignments) {
			a.reserve(newPod("a", ""), "n", now)
			a.unreserve(newPod("a", ""), "n")
		}, map[string]float64{}},
		{"a bound pod keeps the time of its reservation", func(a *assignments) {
			a.reserve(newPod("a", ""), "n", now.Add(-5*time.Second))
			a.observe(scheduled(newPod("a", "n"), time.Second))
		}, map[string]float64{"a": 5}},
		{"a bound pod does not go with its reservation", func(a *assignments) {
			a.reserve(newPod("a", ""), "n", now)
			a.observe(scheduled(newPod("a", "n"), 0))
			a.unreserve(newPod("a", ""), "n")
		}, map[string]float64{"a": 0}},
		{"after a restart pods are as old as they are", func(a *assignments) { a.observe(scheduled(newPod("a", "n"), time.Hour)) }, map[string]float64{"a": 3600}},
		{"a finished pod does not count", func(a *assignments) {
			a.observe(scheduled(newPod("a", "n"), 0))
			a.observe(finished)
		}, map[string]float64{}},
		{"a pending pod does not count", func(a *assignments) { a.observe(newPod("a", "")) }, map[string]float64{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := newAssignments(&stamps{})
			test.do(a)
			if diff := cmp.Diff(test.want, names(a.list("n"))); diff != "" {
				t.Errorf("pods and their age in seconds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVersionsTellListsApart(t *testing.T) {
	a := newAssignments(&stamps{})
	a.reserve(newPod("a", ""), "n", now)
	first := a.list("n")
	if again := a.list("n"); again.Version != first.Version {
		t.Error("the same list has two versions")
	}
	a.reserve(newPod("b", ""), "n", now)
	if second := a.list("n"); second.Version == first.Version || len(second.Pods) != 2 || len(first.Pods) != 1 {
		t.Errorf("version %d with %d pods after version %d with %d", second.Version, len(second.Pods), first.Version, len(first.Pods))
	}
}

// metricServer answers list and watch of NodeMetrics, or, until served is set, that there is no such resource.
func metricServer(t *testing.T, served *atomic.Bool) *rest.Config {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !served.Load() || !strings.HasSuffix(r.URL.Path, "/apis/slo.koordinator.sh/v1alpha1/nodemetrics") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		metric := slov1alpha1.NodeMetric{
			TypeMeta:   metav1.TypeMeta{APIVersion: "slo.koordinator.sh/v1alpha1", Kind: "NodeMetric"},
			ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "7", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "koordlet"}}},
		}
		if r.URL.Query().Get("watch") == "" {
			list := slov1alpha1.NodeMetricList{TypeMeta: metav1.TypeMeta{APIVersion: "slo.koordinator.sh/v1alpha1", Kind: "NodeMetricList"},
				ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []slov1alpha1.NodeMetric{metric}}
			_ = json.NewEncoder(w).Encode(list)
			return
		}
		if r.URL.Query().Get("sendInitialEvents") == "true" {
			http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`, http.StatusUnprocessableEntity)
			return
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func TestNodeMetricsAppearWhenTheyAreServed(t *testing.T) {
	served := &atomic.Bool{}
	pods := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().Pods().Informer()
	cluster, err := NewCluster(metricServer(t, served), pods)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); cluster.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	eventually.True(t, "their absence is noticed", cluster.metrics.Missing)
	if cluster.NodeMetric("n") != nil {
		t.Error("there is a NodeMetric although none is served")
	}
	served.Store(true)
	eventually.True(t, "the NodeMetric is read", func() bool { return cluster.NodeMetric("n") != nil })
	if cluster.NodeMetric("n").ManagedFields != nil {
		t.Error("managed fields are kept")
	}
	eventually.True(t, "the change is counted", func() bool { return cluster.MetricsChanged() == 1 })
	eventually.True(t, "the node's stamp has moved", func() bool { return cluster.Stamp("n").Load() > 0 })
	if stamp := cluster.Stamp("n"); stamp != cluster.stamps.of("n") || cluster.Stamp("other").Load() != 0 {
		t.Error("stamps are mixed up")
	}
	before := cluster.Stamp("n").Load()
	cluster.Reserve(newPod("a", ""), "n", now)
	if cluster.Stamp("n").Load() == before {
		t.Error("a reserved pod does not move the stamp")
	}
	before = cluster.Stamp("n").Load()
	cluster.Unreserve(newPod("a", ""), "n")
	if cluster.Stamp("n").Load() == before {
		t.Error("the last pod of a node leaves without moving the stamp")
	}
}

func TestPodsThatAreGoneDoNotCount(t *testing.T) {
	assumed := newPod("a", "")
	bound := newPod("a", "n")
	other := newPod("a", "n")
	other.UID = "b"
	tests := map[string]struct {
		happen func(a *assignments)
		want   int
	}{
		"deleted while the watch was broken, and last seen before it was bound": {happen: func(a *assignments) {
			a.reserve(assumed, "n", now)
			a.handler().OnDelete(cache.DeletedFinalStateUnknown{Key: "default/a", Obj: assumed})
		}},
		"replaced by another pod of its name": {want: 1, happen: func(a *assignments) {
			a.handler().OnAdd(bound, false)
			a.handler().OnUpdate(bound, other)
		}},
		"reserved on one node and bound to another": {want: 1, happen: func(a *assignments) {
			a.reserve(assumed, "elsewhere", now)
			a.handler().OnUpdate(assumed, bound)
		}},
		"taken back": {happen: func(a *assignments) {
			a.reserve(assumed, "n", now)
			a.unreserve(assumed, "n")
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newAssignments(&stamps{})
			test.happen(a)
			if got := len(a.list("n").Pods); got != test.want {
				t.Errorf("%d pods count on the node, want %d", got, test.want)
			}
			if got := len(a.list("elsewhere").Pods); got != 0 || len(a.where) != test.want {
				t.Errorf("%d pods count elsewhere, %d places are remembered", got, len(a.where))
			}
		})
	}
}
