package hooks

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
)

var (
	start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	id    = strings.Repeat("0123456789abcdef", 4)
)

const devices = `{"gpu":[{"minor":2,"resources":{"koordinator.sh/gpu-core":"50","koordinator.sh/gpu-memory":"8Gi"}},{"minor":0,"resources":{"koordinator.sh/gpu-core":"50"}}]}`

// batch is a sandbox that only the runtime has reported.
func batch() Sandbox {
	return Sandbox{
		Namespace: "ns", Name: "batch", UID: "batch", CgroupParent: "/kubepods/besteffort/podbatch",
		Labels: map[string]string{extension.LabelPodQoS: "BE"},
		Annotations: map[string]string{extension.AnnotationExtendedResourceSpec: `{"containers":{"main":{
			"requests":{"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"1Gi"},"limits":{"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"1Gi"}}}}`},
	}
}

func snapshot(t *testing.T, version cgroup.Version) (qos.NodeSnapshot, *kernelfs.Tree) {
	t.Helper()
	layout := cgroup.Layout{Version: version, Driver: cgroup.Cgroupfs}
	kernel := kernelfs.New(version, cpuset.Of(0, 1, 2, 3, 4, 5))
	for _, class := range []corev1.PodQOSClass{corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
		kernel.Make(layout.QoS(class))
	}
	burstPolicy := &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstOnly, CPUBurstPercent: new(int64(100))}}
	yields := int64(-1)
	return qos.NodeSnapshot{
		Now: start, Period: time.Second, Tree: kernel, Layout: layout,
		SLO: &slov1alpha1.NodeSLOSpec{CPUBurstStrategy: burstPolicy, ResourceQOSStrategy: &slov1alpha1.ResourceQOSStrategy{
			BEClass: &slov1alpha1.ResourceQOS{CPUQOS: &slov1alpha1.CPUQOSCfg{Enable: new(true), CPUQOS: slov1alpha1.CPUQOS{GroupIdentity: &yields}}},
		}},
		Reported: &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			extension.AnnotationNodeCPUSharedPools: `[{"socket":0,"node":0,"cpuset":"0-3"}]`,
		}}},
	}, kernel
}

func features() []qos.Feature {
	return []qos.Feature{&qos.Suppression{}, qos.CPUSetAllocator{}, qos.GroupIdentity{}, qos.BatchResource{}, qos.NewCPUBurst()}
}

func TestWhatContainersGetWhenTheyAreMade(t *testing.T) {
	owner := Sandbox{
		UID: "bound", CgroupParent: "/kubepods/podbound", Labels: map[string]string{extension.LabelPodQoS: "LSR"},
		Annotations: map[string]string{extension.AnnotationResourceStatus: `{"cpuset":"4-5"}`},
	}
	trainer := Sandbox{
		UID: "gpu", CgroupParent: "/kubepods/burstable/podgpu", Labels: map[string]string{extension.LabelGPUIsolationProvider: "HAMi-core", extension.LabelPodQoS: "LS"},
		Annotations: map[string]string{extension.AnnotationDeviceAllocated: devices, extension.AnnotationOOMScoreAdj: "-500"},
	}
	requesting := func(pairs ...string) *corev1.PodSpec {
		requests := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			requests[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return &corev1.PodSpec{Priority: new(int32(9500)), NodeName: "n", Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}}
	}
	tests := []struct {
		name    string
		version cgroup.Version
		sandbox Sandbox
		// spec of the pod in the API server; nil where only the sandbox is known.
		spec        *corev1.PodSpec
		injection   Injection
		want        Adjustment
		wantProblem bool
	}{
		{
			name: "a batch pod, version 1", version: cgroup.V1, sandbox: batch(),
			want: Adjustment{CPUShares: new(int64(512)), CPUQuota: new(int64(50000)), MemoryLimit: new(int64(1 << 30))},
		},
		{
			name: "a batch pod, version 2", version: cgroup.V2, sandbox: batch(),
			want: Adjustment{CPUQuota: new(int64(50000)), MemoryLimit: new(int64(1 << 30)), Unified: map[string]string{"cpu.weight": "20"}},
		},
		{
			name: "CPUs of its own", version: cgroup.V2, sandbox: owner, spec: requesting("cpu", "2"),
			want: Adjustment{CPUs: "4-5", CPUQuota: new(int64(-1))},
		},
		{
			name: "CPUs that only the sandbox claims", version: cgroup.V2, sandbox: owner,
			want: Adjustment{CPUs: "0-3"},
		},
		{
			name: "shared CPUs, and nothing injected", version: cgroup.V1, sandbox: trainer,
			want: Adjustment{CPUs: "0-3"},
		},
		{
			name: "GPUs that the pod does not request", version: cgroup.V1, sandbox: trainer, spec: requesting("cpu", "2"), injection: Injection{GPUs: true},
			want: Adjustment{CPUs: "0-3"}, wantProblem: true,
		},
		{
			name: "GPUs and a score", version: cgroup.V1, sandbox: trainer,
			spec:      requesting("koordinator.sh/gpu.shared", "2", "koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory", "16Gi"),
			injection: Injection{GPUs: true, OOMScore: true, RDMA: true},
			want: Adjustment{CPUs: "0-3", OOMScore: new(int64(-500)), Env: map[string]string{
				"NVIDIA_VISIBLE_DEVICES": "0,2", "LD_PRELOAD": "/usr/local/vgpu/libvgpu.so", "CUDA_DEVICE_MEMORY_LIMIT": "8589934592", "CUDA_DEVICE_SM_LIMIT": "50",
			}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in, _ := snapshot(t, test.version)
			pod := test.sandbox.Pod(in.Layout)
			if test.spec != nil {
				pod.Object.Spec = *test.spec
				pod = state.PodOf(pod.Object)
			}
			at := in.Layout.Pod(pod.Class(), pod.UID) + "/" + id
			got := AdjustmentOf(in, qos.ForNewContainers(features()), test.injection, pod, qos.Container{Name: "main", ID: id, Cgroup: at})
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(Adjustment{}, "DesiredValues", "Problems"), cmpopts.EquateEmpty()); diff != "" || (len(got.Problems) > 0) != test.wantProblem {
				t.Errorf("problems %v, adjustment (-want +got):\n%s", got.Problems, diff)
			}
		})
	}
}

// service has a limit, which is known only from its object: sandboxes do not carry it.
func service() *corev1.Pod {
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "service", Namespace: "ns", UID: "service", Labels: map[string]string{extension.LabelPodQoS: "LS"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: limits, Limits: limits}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBurstable},
	}
}

// TestAnnotationsThatNobodyWouldWriteAreNoHarm: users may write them.
func TestAnnotationsThatNobodyWouldWriteAreNoHarm(t *testing.T) {
	in, _ := snapshot(t, cgroup.V2)
	in.Sys = kernelfs.NewMachine()
	for _, annotation := range []string{
		`{"gpu":[null],"rdma":[null]}`, `{"gpu":[null,{"minor":-1}]}`, `{"rdma":[{"id":"../../.."}]}`, `{"gpu":null}`, `null`, `[]`, ``, `{"rdma":[{"extension":{"vfs":[{}]}}]}`,
	} {
		sandbox := batch()
		sandbox.Annotations[extension.AnnotationDeviceAllocated] = annotation
		pod := sandbox.Pod(in.Layout)
		got := AdjustmentOf(in, nil, Injection{GPUs: true, RDMA: true}, pod, qos.Container{Name: "main", ID: id, Cgroup: "kubepods/new"})
		if len(got.Devices) > 0 {
			t.Errorf("%s gives devices %v", annotation, got.Devices)
		}
	}
}

func TestAPodThatIsKnownIsTakenAsItsObjectIs(t *testing.T) {
	f := newFixture(t, cgroup.V2)
	f.in.Pods = []*state.Pod{state.PodOf(service())}
	f.advisor.Observe(f.in)
	got := f.advisor.Container(t.Context(), Sandbox{UID: "service", CgroupParent: "/kubepods/burstable/podservice"}, "main", id)
	want := Adjustment{CPUs: "0-3", Unified: map[string]string{"cpu.max.burst": "200000"}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Adjustment{}, "DesiredValues"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("adjustment (-want +got):\n%s", diff)
	}
}

// fixture is an advisor with the kernel's files.
type fixture struct {
	in       qos.NodeSnapshot
	kernel   *kernelfs.Tree
	clock    *clocktesting.FakeClock
	executor *executor.Executor
	advisor  *Advisor
	features []qos.Feature
}

func newFixture(t *testing.T, version cgroup.Version) *fixture {
	t.Helper()
	f := &fixture{clock: clocktesting.NewFakeClock(start), features: features()}
	f.in, f.kernel = snapshot(t, version)
	var err error
	f.executor, err = executor.New(executor.Options{
		Tree: f.kernel, Layout: f.in.Layout, Owners: qos.Owners(f.features), Originals: checkpoint.File{Path: t.TempDir() + "/o"}, Audit: audit.NewLog(10), Clock: f.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	f.advisor = NewAdvisor(Options{Executor: f.executor, Snapshot: f.in, Features: f.features, Clock: f.clock})
	return f
}

// round is what the agent does after a reading.
func (f *fixture) round(t *testing.T) {
	t.Helper()
	f.in.Containers = qos.NewContainers(f.kernel, f.in.Layout)
	for _, feature := range f.features {
		switch feature.(type) {
		case *qos.Suppression, *qos.CPUBurst:
			continue // they look at measurements, of which there are none
		}
		if err := f.executor.Declare(feature.Name(), feature.DesiredValues(f.in)); err != nil {
			t.Fatal(err)
		}
	}
	f.advisor.Observe(f.in)
	if outcome, err := f.executor.Apply(t.Context()); err != nil || outcome.Err() != nil {
		t.Fatal(err, outcome.Err())
	}
}

// TestWhatAHookSetStaysUntilTheAgentKnowsThePod goes through the first seconds of a pod: the API server reports the pod late, and that
// it runs later still.
func TestWhatAHookSetStaysUntilTheAgentKnowsThePod(t *testing.T) {
	f := newFixture(t, cgroup.V2)
	pod := "kubepods/besteffort/podbatch"
	f.kernel.Make(pod + "/" + id)
	before := f.kernel.Dump()
	f.advisor.Pod(t.Context(), batch())
	// The runtime has made the cgroup with what a hook chose, where kubelet wanted the least weight and no limits.
	for file, content := range map[string]string{"cpu.weight": "20", "cpu.max": "50000", "memory.max": "1073741824"} {
		if err := f.kernel.Write(pod+"/"+id+"/"+file, content); err != nil {
			t.Fatal(err)
		}
	}
	f.advisor.Started(t.Context(), batch(), "main", id, "", &Resources{Values: map[cgroup.Setting]int64{cgroup.CPUShares: 2}})
	set := func() map[string]string {
		out := map[string]string{}
		for path, content := range f.kernel.Dump() {
			if before[path] != content {
				out[path] = content
			}
		}
		return out
	}
	want := map[string]string{
		pod + "/cpu.idle": "1", pod + "/cpu.weight": "0", pod + "/cpu.max": "50000 100000", pod + "/memory.max": "1073741824",
		pod + "/" + id + "/cpu.weight": "20", pod + "/" + id + "/cpu.max": "50000 100000", pod + "/" + id + "/memory.max": "1073741824",
	}
	check := func(when string, want map[string]string) {
		t.Helper()
		if diff := cmp.Diff(want, set(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	check("after the hooks", want)
	f.round(t)
	check("while the API server has not told of the pod", want)

	object := batch().Pod(f.in.Layout).Object.DeepCopy()
	object.Status.Phase = corev1.PodPending
	f.in.Pods = []*state.Pod{state.PodOf(object)}
	f.round(t)
	check("while the pod does not run yet", want)

	object = object.DeepCopy()
	object.Status.Phase = corev1.PodRunning
	object.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ContainerID: "containerd://" + id, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	f.in.Pods = []*state.Pod{state.PodOf(object)}
	f.round(t)
	f.round(t)
	check("when the features know it", want)
	if len(f.advisor.pending) > 0 {
		t.Errorf("%v is anticipated still", f.advisor.pending)
	}
	if outcome, err := f.executor.Restore(t.Context()); err != nil || outcome.Err() != nil {
		t.Fatal(err, outcome.Err())
	}
	check("when the agent has stopped, as kubelet wanted it", map[string]string{pod + "/" + id + "/cpu.weight": "1"})
}

// TestNobodyWaitsForTheDiskWhereTheRuntimeHasSetAll: what was there before is written to it, by the agent's next round. What a runtime has no
// field for is set at once.
func TestNobodyWaitsForTheDiskWhereTheRuntimeHasSetAll(t *testing.T) {
	for _, test := range []struct {
		name    string
		version cgroup.Version
		object  *corev1.Pod
		told    *Resources
		// wantWrites right after the start, and set later at the latest.
		wantWrites bool
	}{
		{name: "all has a field", version: cgroup.V1, told: &Resources{}},
		{name: "all has a file", version: cgroup.V2, told: &Resources{}},
		{name: "nothing is known of how it was made", version: cgroup.V2, wantWrites: true},
		{name: "time that may be saved up has neither", version: cgroup.V1, object: service(), told: &Resources{}, wantWrites: true},
		{name: "time that may be saved up is a file", version: cgroup.V2, object: service(), told: &Resources{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, test.version)
			sandbox := batch()
			if test.object != nil {
				sandbox = Sandbox{UID: "service", CgroupParent: "/kubepods/burstable/podservice"}
				f.in.Pods = []*state.Pod{state.PodOf(test.object)}
				f.advisor.Observe(f.in)
			}
			f.kernel.Make(sandbox.CgroupParent[1:] + "/" + id)
			_, before := f.kernel.Counts()
			f.advisor.Started(t.Context(), sandbox, "main", id, id, test.told)
			if _, after := f.kernel.Counts(); after > before != test.wantWrites {
				t.Errorf("%d files are written at once, want some: %t", after-before, test.wantWrites)
			}
			if _, err := f.executor.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, after := f.kernel.Counts(); after == before {
				t.Error("nothing is set by the next round")
			}
		})
	}
}

// TestContainersGetBackWhatKubeletWanted: whatever a hook had the runtime set, what it would have set without is restored.
func TestContainersGetBackWhatKubeletWanted(t *testing.T) {
	kubepods := map[cgroup.Version]string{cgroup.V1: "cpuset/kubepods/cpuset.cpus", cgroup.V2: "kubepods/cpuset.cpus"}
	for _, test := range []struct {
		name    string
		version cgroup.Version
		setting cgroup.Setting
		told    *Resources
		want    string
	}{
		{name: "shares that were told", version: cgroup.V1, setting: cgroup.CPUShares, told: &Resources{Values: map[cgroup.Setting]int64{cgroup.CPUShares: 102}}, want: "102"},
		{name: "a quota that was told", version: cgroup.V2, setting: cgroup.CPUQuota, told: &Resources{Values: map[cgroup.Setting]int64{cgroup.CPUQuota: 20000}}, want: "20000"},
		{name: "no quota", version: cgroup.V1, setting: cgroup.CPUQuota, told: &Resources{}, want: "-1"},
		{name: "no memory limit, said by zero", version: cgroup.V2, setting: cgroup.MemoryLimit, told: &Resources{Values: map[cgroup.Setting]int64{cgroup.MemoryLimit: 0}}, want: "max"},
		{name: "CPUs of kubelet's static policy", version: cgroup.V1, setting: cgroup.CPUSet, told: &Resources{CPUs: "2-3"}, want: "2-3"},
		{name: "no CPUs, version 1", version: cgroup.V1, setting: cgroup.CPUSet, told: &Resources{}, want: "0-5"},
		{name: "no CPUs, version 2", version: cgroup.V2, setting: cgroup.CPUSet, told: &Resources{}, want: "\n"},
		{name: "a file that was told", version: cgroup.V2, setting: cgroup.MemoryMin, told: &Resources{Unified: map[string]string{"memory.min": "4096"}}, want: "4096"},
		{name: "a file that was not", version: cgroup.V2, setting: cgroup.MemoryMin, told: &Resources{}, want: "0"},
		{name: "what depends on the kernel", version: cgroup.V2, setting: cgroup.WmarkRatio, told: &Resources{}},
		{name: "a container unknown", version: cgroup.V2, setting: cgroup.CPUQuota},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, test.version)
			if content, err := f.kernel.Read(kubepods[test.version], nil); err != nil {
				t.Fatal(content, err)
			}
			if got := test.told.original(f.advisor.view.Load(), test.setting); got != test.want {
				t.Errorf("%s gets back %q, want %q", test.setting.Name, got, test.want)
			}
		})
	}
}

func TestWhatIsAnticipatedEnds(t *testing.T) {
	for name, end := range map[string]func(*fixture){
		"when the pod is removed":         func(f *fixture) { f.advisor.Forget("batch") },
		"when nobody ever tells of a pod": func(f *fixture) { f.clock.Step(pendingTimeout); f.advisor.Observe(f.in) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, cgroup.V1)
			f.kernel.Make("kubepods/besteffort/podbatch/" + id)
			before := f.kernel.Dump()
			f.advisor.Pod(t.Context(), batch())
			f.advisor.Started(t.Context(), batch(), "main", id, id, nil)
			if cmp.Equal(before, f.kernel.Dump()) {
				t.Fatal("nothing was set")
			}
			end(f)
			if _, err := f.executor.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, f.kernel.Dump()); diff != "" {
				t.Errorf("something is left (-before +after):\n%s", diff)
			}
		})
	}
}

func TestSuppressedContainersBeginOnTheCPUsThatAreLeft(t *testing.T) {
	f := newFixture(t, cgroup.V1)
	topology, err := cpuset.NewTopology(&extension.CPUTopology{Detail: []extension.CPUInfo{
		{ID: 0}, {ID: 1, Core: 1}, {ID: 2, Core: 2}, {ID: 3, Core: 3}, {ID: 4, Core: 4}, {ID: 5, Core: 5},
	}})
	if err != nil {
		t.Fatal(err)
	}
	in := f.in
	in.Topology, in.Capacity.MilliCPU, in.Containers = topology, 6000, qos.NewContainers(f.kernel, f.in.Layout)
	in.SLO = &slov1alpha1.NodeSLOSpec{ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{
		Enable: new(true), CPUSuppressThresholdPercent: new(int64(40)), CPUSuppressPolicy: slov1alpha1.CPUSetPolicy,
	}}
	in.Used = func() (metrics.Usage, bool) { return metrics.Usage{}, true }
	suppression := f.features[0]
	suppression.DesiredValues(in)
	f.advisor.Observe(in)
	got := f.advisor.Container(t.Context(), batch(), "main", id)
	if cpus, err := cpuset.Parse(got.CPUs); err != nil || cpus.Len() != 3 {
		t.Errorf("the container begins on CPUs %q, want three", got.CPUs)
	}
}

func TestRuntimesAreTimedAtEachStage(t *testing.T) {
	f := newFixture(t, cgroup.V2)
	f.kernel.Make("kubepods/besteffort/podbatch/" + id)
	var stages []Stage
	f.advisor.options.Observe = func(stage Stage, _ time.Duration) { stages = append(stages, stage) }
	f.advisor.Pod(t.Context(), batch())
	f.advisor.Container(t.Context(), batch(), "main", "")
	f.advisor.Started(t.Context(), batch(), "main", id, "", nil)
	if diff := cmp.Diff([]Stage{PreRunPodSandbox, PreCreateContainer, PreStartContainer}, stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}
