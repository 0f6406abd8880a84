package overcommit

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

func TestNeedsSync(t *testing.T) {
	published := func(value int64) *int64 { return &value }
	minutesAgo := func(n int) time.Time { return noon.Add(-time.Duration(n) * time.Minute) }
	tests := []struct {
		name       string
		published  *int64
		computed   Value
		lastSync   time.Time
		want       diagnosticsv1alpha1.SyncState
		wantReason string
	}{
		{name: "the same", published: published(1000), computed: Value{Value: 1000}, want: diagnosticsv1alpha1.InSync},
		{name: "not there yet", computed: Value{Value: 0}, lastSync: minutesAgo(1), want: diagnosticsv1alpha1.NotPublished, wantReason: "next reconciliation"},
		{name: "ten percent more waits", published: published(1000), computed: Value{Value: 1100}, lastSync: minutesAgo(1),
			want: diagnosticsv1alpha1.WithinThreshold, wantReason: "differs by 10%, within resourceDiffThreshold (10%); written within 4m0s"},
		{name: "eleven percent less does not", published: published(1000), computed: Value{Value: 890}, lastSync: minutesAgo(1),
			want: diagnosticsv1alpha1.Pending, wantReason: "more than resourceDiffThreshold"},
		{name: "one percent waited long enough", published: published(1000), computed: Value{Value: 1010}, lastSync: minutesAgo(5),
			want: diagnosticsv1alpha1.Pending, wantReason: "5m0s"},
		{name: "nobody knows when it was written", published: published(1000), computed: Value{Value: 1010}, want: diagnosticsv1alpha1.Pending},
		{name: "anything is more than nothing", published: published(0), computed: Value{Value: 1}, lastSync: minutesAgo(1), want: diagnosticsv1alpha1.Pending},
		{name: "withdrawn but still there", published: published(0), computed: Value{Withdrawn: true, Reason: "old"}, lastSync: minutesAgo(1),
			want: diagnosticsv1alpha1.Pending, wantReason: "to be withdrawn: old"},
		{name: "withdrawn and gone", computed: Value{Withdrawn: true, Reason: "old"}, want: diagnosticsv1alpha1.Withdrawn, wantReason: "withdrawn: old"},
		{name: "a clock that was set back does not make it wait longer", published: published(1000), computed: Value{Value: 1010}, lastSync: noon.Add(time.Hour),
			want: diagnosticsv1alpha1.WithinThreshold, wantReason: "written within 5m0s"},
		{name: "nor one that was set to the year 9999", published: published(1000), computed: Value{Value: 1010},
			lastSync: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), want: diagnosticsv1alpha1.WithinThreshold, wantReason: "written within 5m0s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, reason := NeedsSync(test.published, test.computed, test.lastSync, strategy().Strategy, noon)
			if got != test.want || !strings.Contains(reason, test.wantReason) {
				t.Errorf("NeedsSync = %s, %q; want %s, %q", got, reason, test.want, test.wantReason)
			}
		})
	}
}

func TestSyncSaysWhenToLookAgain(t *testing.T) {
	in := n1()
	result := Calculate(in, nil)
	sync := result.Sync(in)
	if !sync.Write || !strings.Contains(sync.Reason, "batch-cpu") {
		t.Errorf("a node without batch resources is not written: %+v", sync)
	}
	publish := func(cpu int64) {
		in.Node.Status.Allocatable = in.Node.Status.Allocatable.DeepCopy()
		for _, name := range Resources() {
			value, _ := result.Of(name)
			in.Node.Status.Allocatable[name] = *quantity(value.Value)
		}
		in.Node.Status.Allocatable[extension.BatchCPU] = *quantity(cpu)
	}
	publish(25_000)
	expiry := in.Metric.Status.UpdateTime.Add(15 * time.Minute)
	if sync := result.Sync(in); sync.Write || sync.Next.Sub(expiry) > time.Second || sync.Next.Before(expiry) {
		t.Errorf("in sync: %+v, want no write and a look at %v, when the report expires", sync, expiry)
	}
	publish(24_000)
	in.Node.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "kubelet", Subresource: "status", Time: &metav1.Time{Time: noon}},
		{Manager: FieldManager, Subresource: "status", Time: &metav1.Time{Time: noon.Add(-time.Minute)}},
	}
	if sync := result.Sync(in); sync.Write || !sync.Next.Equal(noon.Add(4*time.Minute)) {
		t.Errorf("within the threshold: %+v, want a look in 4 minutes", sync)
	}
	in.Metric = nil
	if sync := Calculate(in, nil).Sync(in); !sync.Write || !sync.Next.IsZero() {
		t.Errorf("without measurements: %+v, want the resources taken back and nothing to wait for", sync)
	}
	in.Node.Status.Allocatable = corev1.ResourceList{}
	if sync := Calculate(in, nil).Sync(in); sync.Write {
		t.Errorf("already taken back: %+v", sync)
	}
}

// TestWhatAnotherSchedulerTookIsWrittenAtOnce: changes below the threshold are written, too, whether resources were taken or returned.
func TestWhatAnotherSchedulerTookIsWrittenAtOnce(t *testing.T) {
	allocated := func(cpu string) func(*NodeInput) {
		return annotated(extension.AnnotationNodeThirdPartyAllocations,
			`{"allocations":[{"name":"yarn","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"`+cpu+`"}}]}`)
	}
	origin := annotated(extension.AnnotationNodeOriginExtendedAllocatable, `{"resources":{"kubernetes.io/batch-cpu":"25000","kubernetes.io/batch-memory":"1"}}`)
	tests := map[string]struct {
		in         NodeInput
		offeredCPU int64
		wantWrite  bool
	}{
		"the node offers what is left":            {in: n1(allocated("2000"), origin), offeredCPU: 23_000},
		"another scheduler took one percent more": {in: n1(allocated("2250"), origin), offeredCPU: 23_000, wantWrite: true},
		"another scheduler returned one percent":  {in: n1(allocated("1750"), origin), offeredCPU: 23_000, wantWrite: true},
		"it took more than there is":              {in: n1(allocated("90000"), origin), offeredCPU: 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := test.in
			in.LastSync = noon.Add(-time.Second)
			result := Calculate(in, nil)
			in.Node.Status.Allocatable = corev1.ResourceList{}
			for _, name := range Resources() {
				value, _ := result.Of(name)
				in.Node.Status.Allocatable[name] = *quantity(value.Value)
			}
			in.Node.Status.Allocatable[extension.BatchCPU] = *quantity(test.offeredCPU)
			in.Node.Status.Allocatable[extension.BatchMemory] = *quantity(1)
			result.BatchMemory.Value = 1
			if got := result.Sync(in); got.Write != test.wantWrite {
				t.Errorf("Sync() = %+v, want write %t", got, test.wantWrite)
			}
		})
	}
}
