package koordlet

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/machine"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

// batchPod has two containers, of which one runs.
func (r *rig) batchPod() *corev1.Pod {
	pod := r.pod("etl", extension.QoSBE, corev1.PodQOSBestEffort)
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{extension.BatchCPU: resource.MustParse("1500"), corev1.ResourceCPU: resource.MustParse("1")},
		Limits:   corev1.ResourceList{extension.BatchMemory: resource.MustParse("1Ki")},
	}}, {Name: "done", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{extension.BatchCPU: resource.MustParse("1")}}}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: "done", ContainerID: "containerd://d"},
		{Name: "main", ContainerID: "containerd://m", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
	}
	return pod
}

func TestWhatIsMeasuredIsInMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		defer r.stop()
		r.put("pods", r.batchPod())
		r.machine.use("batch", 3)
		r.machine.use("app", 1)
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(10 * time.Second)
		figures := newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing).nodeMetrics()
		if figures.ProdReclaimable == nil || figures.Average == nil || figures.Average.MilliCPU < 3990 || len(figures.NUMANodes) != 2 || figures.TopologyReads[true] != 1 {
			t.Errorf("average %+v, NUMA nodes %+v, described %v", figures.Average, figures.NUMANodes, figures.TopologyReads)
		}
		if len(figures.Applications) != 1 || figures.Applications[0].Name != "app" || figures.Applications[0].Used.MilliCPU != 1000 {
			t.Errorf("applications %+v", figures.Applications)
		}
		want := []diagnostics.ContainerMetrics{{
			Namespace: "default", Pod: "etl", UID: "etl", Name: "main", ID: "containerd://m",
			Requests: []diagnostics.ResourceMetrics{{Resource: string(extension.BatchCPU), Value: 1500}},
			Limits:   []diagnostics.ResourceMetrics{{Resource: string(extension.BatchMemory), Value: 1024}},
		}}
		if diff := cmp.Diff(want, figures.Containers); diff != "" {
			t.Errorf("containers (-want +got):\n%s", diff)
		}
	})
}

func TestWhatPodsWaitForIsInMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		defer r.stop()
		r.machine.detailed = true
		r.machine.use("service", 1)
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(8*time.Second + 100*time.Millisecond)
		figures := newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing).nodeMetrics()
		over := int((machine.Turns * r.options.SamplePeriod).Seconds())
		wantPods := []diagnostics.PodMetrics{
			{Namespace: "default", Pod: "batch", UID: "batch", Throttled: new(0.0)},
			{Namespace: "default", Pod: "service", UID: "service", Throttled: new(0.2), BlockIO: &diagnostics.BlockIOMetrics{ReadBytes: 1000, Writes: 8}},
		}
		slices.SortFunc(figures.Pods, func(a, b diagnostics.PodMetrics) int { return strings.Compare(a.Pod, b.Pod) })
		if diff := cmp.Diff(wantPods, figures.Pods); diff != "" {
			t.Errorf("pods (-want +got):\n%s", diff)
		}
		if len(figures.Pressure) != 6 || figures.Pressure[0] != (diagnostics.PressureMetrics{Resource: "cpu", Degree: "some", Percent: 10, OverSeconds: over}) {
			t.Errorf("pressure on the node %+v", figures.Pressure)
		}
	})
}

func TestWritesAreTimed(t *testing.T) {
	directory := t.TempDir()
	for _, name := range []string{"cpu.max", "1/oom_score_adj"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(directory, name)), 0o755), os.WriteFile(filepath.Join(directory, name), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	real, err := files.NewReal(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = real.Close() }() // nothing is to be kept
	times := newWriteDurations(clock.RealClock{})
	tree := times.of(real)
	below, err := tree.(files.Opener).OpenSubtree("1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = below.Close() }() // nothing is to be kept
	if err := errors.Join(tree.Write("cpu.max", "max"), below.Write("oom_score_adj", "7")); err != nil {
		t.Fatal(err)
	}
	if tree.Write("cpu.idle", "1") == nil {
		t.Fatal("a file that is not there was written")
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(times.histogram)
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%d metrics, %v", len(families), err)
	}
	got := map[string]uint64{}
	for _, metric := range families[0].Metric {
		name := ""
		for _, label := range metric.Label {
			name += label.GetValue() + " "
		}
		got[name] = metric.GetHistogram().GetSampleCount()
	}
	want := map[string]uint64{"success cpu.max ": 1, "success oom_score_adj ": 1, "failed cpu.idle ": 1}
	if diff := cmp.Diff(want, got); diff != "" || families[0].GetName() != "koordlet_resource_update_duration_milliseconds" {
		t.Errorf("%s (-want +got):\n%s", families[0].GetName(), diff)
	}
}

func TestFailuresOfWritesAndOfKeepersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		defer r.stop()
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(5 * time.Second)
		lastError := func(name string) string {
			for _, feature := range explained(r) {
				if feature.Name == name {
					return feature.LastError
				}
			}
			return ""
		}
		refused := func(owner, why string, at time.Time) {
			r.enforcement.round.record(at, suppression.Input{}, suppression.Decision{}, executor.Outcome{Failures: []executor.Failure{{Owner: owner, Setting: "cpu.idle", Err: errors.New(why)}}})
		}
		refused("GroupIdentity", "busy", time.Now())
		if got := lastError("GroupIdentity"); !strings.Contains(got, "busy") {
			t.Errorf("the last error is %q, while no keeper has failed", got)
		}
		refused("CoreSched", "first", time.Now())
		r.enforcement.results.recordFailure("CoreSched", errors.New("second"), time.Now().Add(time.Second))
		if got := lastError("CoreSched"); got != "second" {
			t.Errorf("the last error is %q, want the later one", got)
		}
		refused("CoreSched", "third", time.Now().Add(time.Minute))
		if got := lastError("CoreSched"); !strings.Contains(got, "third") {
			t.Errorf("the last error is %q, want the later one", got)
		}
	})
}

func TestAPodThatIsNotHereIsNotExplained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		defer r.stop()
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(5 * time.Second)
		e := newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing)
		for name, wantPods := range map[string]int{"batch": 1, "gone": 0} {
			answer, err := e.Explain(r.ctx, nodeName, &diagnosticsv1alpha1.AgentQuestion{
				Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionPods}, PodNamespace: "default", PodName: name,
			})
			if err != nil || len(answer.Pods) != wantPods || (len(answer.Incomplete) > 0) != (wantPods == 0) || answer.Evictions != nil || answer.Features != nil {
				t.Errorf("of pod %s %+v is told, %v", name, answer, err)
			}
		}
	})
}

func TestThePastIsToldByBand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.ReadOnly = true })
		defer r.stop()
		for of, used := range map[string]float64{"service": 2, "batch": 3, "app": 1, "system": 0.5} {
			r.machine.use(types.UID(of), used)
		}
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(3 * time.Minute)
		answer, err := newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing).Explain(r.ctx, nodeName, &diagnosticsv1alpha1.AgentQuestion{
			Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionUsage},
		})
		if err != nil || answer.Usage == nil || len(answer.Usage.Moments) < 4 || answer.Usage.StepMilliseconds != 30_000 {
			t.Fatalf("answer %+v, %v", answer.Usage, err)
		}
		latest := answer.Usage.Moments[len(answer.Usage.Moments)-1]
		want := diagnosticsv1alpha1.UsageParts{Used: 6500, SystemUsed: 500, ProdUsed: 3000, BatchUsed: 3000}
		if diff := cmp.Diff(want, latest.CPU); diff != "" {
			t.Errorf("unexpected cpu at %s (-want +got):\n%s", latest.Time, diff)
		}
		if age := time.Since(latest.Time.Time); age < 0 || age > 31*time.Second {
			t.Errorf("the latest moment is %s old", age)
		}
		if answer.Features != nil || answer.Evictions != nil {
			t.Error("more is told than was asked for")
		}
	})
}

func TestAnswersToContainerRuntimesAreTimed(t *testing.T) {
	times := newHookDurations()
	times.observe(hooks.PreStartContainer, 1500*time.Microsecond)
	registry := prometheus.NewRegistry()
	registry.MustRegister(times.histogram)
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%d metrics, %v", len(families), err)
	}
	metric := families[0].Metric[0]
	if name := families[0].GetName(); name != "koordlet_runtime_hook_invoked_duration_milliseconds" || metric.GetHistogram().GetSampleSum() != 1.5 || metric.Label[0].GetValue() != "PreStartContainer" {
		t.Errorf("%s %v, want 1.5 ms at PreStartContainer", name, metric)
	}
}
