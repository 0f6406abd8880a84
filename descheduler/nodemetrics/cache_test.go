package nodemetrics

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/nodeload"
	"koordinator.sh/koord/test/eventually"
)

// informers is a cache of one informer.
type informers struct {
	cache.Cache
	informer cache.Informer
	err      error
}

func (i informers) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return i.informer, i.err
}

func metricOf(node, version, cpu string) *slov1alpha1.NodeMetric {
	m := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: node, ResourceVersion: version, Annotations: map[string]string{"large": "text"}}}
	m.Status.UpdateTime = &metav1.Time{Time: time.Unix(1, 0)}
	m.Status.NodeMetric = &slov1alpha1.NodeMetricInfo{SystemUsage: slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}
	return m
}

// TestReportsFollowTheNodeMetrics that an informer watches.
func TestReportsFollowTheNodeMetrics(t *testing.T) {
	changes := watch.NewFake()
	informer := toolscache.NewSharedIndexInformer(toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &slov1alpha1.NodeMetricList{Items: []slov1alpha1.NodeMetric{*metricOf("a", "1", "1"), *metricOf("b", "1", "2")}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return changes, nil },
	}, unlistable{}), &slov1alpha1.NodeMetric{}, 0, toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc})
	if err := informer.SetTransform(Transform); err != nil {
		t.Fatal(err)
	}
	go informer.RunWithContext(t.Context())
	of := Reports{informers{informer: informer}}
	cpu := func() map[string]int64 {
		reports, err := of.Reports(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]int64{}
		for node, report := range reports {
			out[node], _ = report.System.Get("cpu")
		}
		return out
	}
	expect := func(want map[string]int64) {
		t.Helper()
		eventually.True(t, fmt.Sprintf("the reports are %v", want), func() bool { return cmp.Equal(want, cpu()) })
	}
	expect(map[string]int64{"a": 1000, "b": 2000})
	changes.Modify(metricOf("a", "2", "3"))
	changes.Delete(metricOf("b", "3", "2"))
	changes.Add(metricOf("c", "4", "4"))
	expect(map[string]int64{"a": 3000, "c": 4000})
}

// unlistable is a client whose lists cannot be had by watching.
type unlistable struct{}

func (unlistable) IsWatchListSemanticsUnSupported() bool { return true }

func TestAnEntryHoldsNothingElse(t *testing.T) {
	metric := metricOf("a", "7", "1")
	metric.UID = "u"
	got, err := Transform(metric)
	if err != nil {
		t.Fatal(err)
	}
	want := metav1.ObjectMeta{Name: "a", UID: "u", ResourceVersion: "7"}
	if diff := cmp.Diff(want, got.(*entry).ObjectMeta); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(nodeload.Of(metric), got.(*entry).report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if again, _ := Transform(got); again != got {
		t.Error("an informer that lists by watching transforms what it lists twice, and the second time another entry is made")
	}
}

func TestNodeMetricsThatCannotBeRead(t *testing.T) {
	for name, in := range map[string]struct {
		informers
		want string
	}{
		"they are not served":     {informers{err: errors.New("no such kind")}, "list NodeMetrics: no such kind"},
		"the cache has no stores": {informers{informer: nil}, "list NodeMetrics: a <nil> has no store"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := (Reports{in}).Reports(t.Context()); err == nil || err.Error() != in.want {
				t.Errorf("error %v, want %q", err, in.want)
			}
		})
	}
}
