package jobinsight

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
)

var (
	noon    = time.Date(2030, time.January, 7, 12, 0, 0, 0, time.UTC)
	reports = jobinsight.Kind{User: "etl", Application: "report"}
)

// rig is a cluster with one node, and the collector.
type rig struct {
	*collector
	t      *testing.T
	clock  *clocktesting.FakePassiveClock
	events *events.FakeRecorder
	runs   int
}

func newRig(t *testing.T) *rig {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, slov1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(&slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}).
		WithIndex(&corev1.Pod{}, "status.phase", func(pod client.Object) []string { return []string{string(pod.(*corev1.Pod).Status.Phase)} }).Build()
	r := &rig{t: t, clock: clocktesting.NewFakePassiveClock(noon)}
	r.restart(c)
	return r
}

// restart is a new koord-manager on the same cluster.
func (r *rig) restart(c client.Client) {
	r.t.Helper()
	r.events = events.NewFakeRecorder(10)
	r.collector = newCollector(c, c, r.events, r.clock, "koordinator-system")
	if err := r.load(r.t.Context(), r.clock.Now()); err != nil {
		r.t.Fatal(err)
	}
	if err := r.catchUp(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// start a pod of a run of the Job now.
func (r *rig) start() *corev1.Pod {
	r.t.Helper()
	r.runs++
	controller := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: fmt.Sprintf("report-%d", r.runs), UID: types.UID(fmt.Sprint("uid-", r.runs)),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: fmt.Sprintf("report-%08d", r.runs), Controller: &controller}}},
		Spec: corev1.PodSpec{NodeName: "worker-1", Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("4Gi")}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(r.clock.Now())}}}}},
	}
	if err := r.collector.client.Create(r.t.Context(), pod.DeepCopy()); err != nil {
		r.t.Fatal(err)
	}
	r.started(pod)
	return pod
}

// uses reports what the pod uses, a minute later.
func (r *rig) uses(pod *corev1.Pod, cpu, memory string) {
	r.t.Helper()
	r.clock.SetTime(r.clock.Now().Add(time.Minute))
	var metric slov1alpha1.NodeMetric
	if err := r.collector.client.Get(r.t.Context(), types.NamespacedName{Name: "worker-1"}, &metric); err != nil {
		r.t.Fatal(err)
	}
	now := metav1.NewTime(r.clock.Now())
	metric.Status = slov1alpha1.NodeMetricStatus{UpdateTime: &now, PodsMetric: []*slov1alpha1.PodMetricInfo{{Namespace: pod.Namespace, Name: pod.Name,
		PodUsage: slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}}}}}
	if err := r.collector.client.Update(r.t.Context(), &metric); err != nil {
		r.t.Fatal(err)
	}
	r.pass(r.t.Context())
}

// end a pod with a phase and the reason of its container.
func (r *rig) end(pod *corev1.Pod, phase corev1.PodPhase, reason string) {
	r.t.Helper()
	var stored corev1.Pod
	if err := r.collector.client.Get(r.t.Context(), client.ObjectKeyFromObject(pod), &stored); err != nil {
		r.t.Fatal(err)
	}
	stored.Status.Phase = phase
	stored.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		Reason: reason, StartedAt: pod.Status.ContainerStatuses[0].State.Running.StartedAt, FinishedAt: metav1.NewTime(r.clock.Now())}}
	if err := r.collector.client.Status().Update(r.t.Context(), &stored); err != nil {
		r.t.Fatal(err)
	}
	r.left(pod)
	r.pass(r.t.Context())
}

func (r *rig) predicted(m jobinsight.Metric) *jobinsight.Estimate {
	return r.store.Predict(reports, 0.9, nil).Of(m)
}

// completes is a run of two minutes that uses 1 core and 2 GiB.
func (r *rig) completes() {
	pod := r.start()
	r.uses(pod, "500m", "1Gi")
	r.uses(pod, "1500m", "2Gi")
	r.end(pod, corev1.PodSucceeded, "Completed")
}

func TestRunsOfAJobAreLearned(t *testing.T) {
	r := newRig(t)
	for range 5 {
		r.completes()
	}
	for m, want := range map[jobinsight.Metric]float64{jobinsight.Memory: 2 << 30, jobinsight.CPU: 1, jobinsight.Duration: 120} {
		got := r.predicted(m)
		if got == nil || got.Runs != 5 || got.Level != jobinsight.ByKind || got.Point < want*0.99 || got.Point > want*1.01 {
			t.Errorf("%s is %+v, want %g by 5 runs", m, got, want)
		}
	}
	if len(r.running) > 0 {
		t.Errorf("%d pods are still followed", len(r.running))
	}
}

func TestAnOOMKilledRunNeedsMoreThanItsLimit(t *testing.T) {
	r := newRig(t)
	for range 6 {
		pod := r.start()
		r.uses(pod, "1", "1Gi") // the peak came between two samples
		r.end(pod, corev1.PodFailed, "OOMKilled")
	}
	if got := r.predicted(jobinsight.Memory); got == nil || got.High < 4<<30 {
		t.Errorf("memory is %+v, want more than 4 GiB", got)
	}
}

func TestAPodThatIsFollowedLateIsNoPeak(t *testing.T) {
	r := newRig(t)
	for range 4 {
		pod := r.start()
		r.clock.SetTime(r.clock.Now().Add(time.Hour))
		r.uses(pod, "1", "1Gi")
		r.end(pod, corev1.PodSucceeded, "Completed")
	}
	if memory, duration := r.predicted(jobinsight.Memory), r.predicted(jobinsight.Duration); memory != nil || duration == nil {
		t.Errorf("memory is %+v and the duration %+v, want the duration alone", memory, duration)
	}
}

func TestTheStoreSurvivesARestart(t *testing.T) {
	r := newRig(t)
	for range 3 {
		r.completes()
	}
	if err := r.save(t.Context(), r.clock.Now()); err != nil {
		t.Fatal(err)
	}
	want := *r.predicted(jobinsight.Memory)
	r.restart(r.collector.client)
	if diff := cmp.Diff(want.Runs, r.predicted(jobinsight.Memory).Runs); diff != "" {
		t.Errorf("runs after a restart (-want +got):\n%s", diff)
	}
	missed := r.start()
	r.clock.SetTime(r.clock.Now().Add(2 * time.Minute))
	r.running = map[key]*running{} // nobody looks
	r.end(missed, corev1.PodSucceeded, "Completed")
	r.restart(r.collector.client)
	memory, duration := r.predicted(jobinsight.Memory), r.predicted(jobinsight.Duration)
	if memory.Runs != 3 || duration.Runs != 4 {
		t.Errorf("memory of %d runs and duration of %d, want 3 and 4", memory.Runs, duration.Runs)
	}
	if r.restart(r.collector.client); r.predicted(jobinsight.Duration).Runs != 4 {
		t.Error("a run that ended while nobody looked was counted twice")
	}
}

func TestADamagedStoreIsReportedAndReadAsFarAsItGoes(t *testing.T) {
	tests := map[string]struct {
		change    func(data []byte) []byte
		wantKnown bool
	}{
		"truncated":                           {func(data []byte) []byte { return data[:len(data)-3] }, false},
		"emptied":                             {func([]byte) []byte { return nil }, false},
		"with a wrong bit in the calibration": {func(data []byte) []byte { data[100] ^= 1; return data }, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for range 5 {
				r.completes()
			}
			if err := r.save(t.Context(), r.clock.Now()); err != nil {
				t.Fatal(err)
			}
			var configMap corev1.ConfigMap
			at := types.NamespacedName{Namespace: "koordinator-system", Name: jobinsight.ConfigMapName(0)}
			if err := r.collector.client.Get(t.Context(), at, &configMap); err != nil {
				t.Fatal(err)
			}
			configMap.BinaryData[jobinsight.DataKey] = test.change(configMap.BinaryData[jobinsight.DataKey])
			if err := r.collector.client.Update(t.Context(), &configMap); err != nil {
				t.Fatal(err)
			}
			again := newCollector(r.collector.client, r.collector.client, r.events, r.clock, "koordinator-system")
			if err := again.load(t.Context(), r.clock.Now()); err != nil {
				t.Fatal(err)
			}
			if known := again.store.Predict(reports, 0.9, nil).Of(jobinsight.Memory) != nil; known != test.wantKnown {
				t.Errorf("the kind is known: %v, want %v", known, test.wantKnown)
			}
			select {
			case event := <-r.events.Events:
				if !strings.Contains(event, "Warning JobInsightDamaged [KOORD0307]") {
					t.Errorf("event %q", event)
				}
			default:
				t.Error("nothing reports the damage")
			}
		})
	}
}

var errRefused = errors.New("refused")

// failing is a client that writes nothing.
type failing struct{ client.Client }

func (failing) Update(context.Context, client.Object, ...client.UpdateOption) error {
	return errRefused
}

// TestAWriteThatFailsIsRepeated: what was learned is not lost.
func TestAWriteThatFailsIsRepeated(t *testing.T) {
	r := newRig(t)
	r.completes()
	r.dirty, r.saver.written = true, [jobinsight.Parts][]byte{}
	r.saver.client = failing{r.collector.client}
	if err := r.save(t.Context(), r.clock.Now()); !errors.Is(err, errRefused) || !r.dirty {
		t.Fatalf("error %v, and dirty is %v", err, r.dirty)
	}
	r.saver.client = r.collector.client
	if err := r.save(t.Context(), r.clock.Now()); err != nil || r.dirty {
		t.Fatalf("error %v, and dirty is %v", err, r.dirty)
	}
}
