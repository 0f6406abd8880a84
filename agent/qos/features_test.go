package qos

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
)

// id of the container in every pod.
var id = strings.Repeat("0123456789abcdef", 4)

// running is a pod with one container that runs.
func running(uid types.UID, class corev1.PodQOSClass, labels, annotations map[string]string, limits corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: string(uid), Namespace: "ns", UID: uid, Labels: labels, Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: limits, Limits: limits}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: class, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", ContainerID: "containerd://" + id, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}},
	}
}

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

var (
	batchPod = running("batch", corev1.PodQOSBestEffort, map[string]string{extension.LabelPodQoS: "BE", extension.LabelPodPriorityClass: "koord-batch"},
		nil, list("kubernetes.io/batch-cpu", "500", "kubernetes.io/batch-memory", "1Gi"))
	boundPod = running("bound", corev1.PodQOSGuaranteed, map[string]string{extension.LabelPodQoS: "LSR"},
		map[string]string{extension.AnnotationResourceStatus: `{"cpuset":"4-5"}`}, list("cpu", "2", "memory", "1Gi"))
	servicePod = running("service", corev1.PodQOSBurstable, map[string]string{extension.LabelPodQoS: "LS"}, nil, list("cpu", "2", "memory", "1Gi"))
)

// strategy ranks best-effort pods last, and protects the memory of services.
func strategy() *slov1alpha1.ResourceQOSStrategy {
	identity := func(value int64) *slov1alpha1.CPUQOSCfg {
		return &slov1alpha1.CPUQOSCfg{Enable: new(true), CPUQOS: slov1alpha1.CPUQOS{GroupIdentity: &value}}
	}
	memory := &slov1alpha1.MemoryQOSCfg{Enable: new(true), MemoryQOS: slov1alpha1.MemoryQOS{
		MinLimitPercent: new(int64(100)), LowLimitPercent: new(int64(0)), ThrottlingPercent: new(int64(0)),
	}}
	return &slov1alpha1.ResourceQOSStrategy{
		LSClass: &slov1alpha1.ResourceQOS{CPUQOS: identity(2), MemoryQOS: memory}, BEClass: &slov1alpha1.ResourceQOS{CPUQOS: identity(-1)},
	}
}

func TestWhatFeaturesSet(t *testing.T) {
	batch, bound, service := "kubepods/besteffort/podbatch", "kubepods/podbound", "kubepods/burstable/podservice"
	tests := []struct {
		name     string
		version  cgroup.Version
		features []Feature
		slo      slov1alpha1.NodeSLOSpec
		reported map[string]string
		// want by path in version 1 or 2, of what changed; nothing else may.
		want map[string]string
	}{
		{
			name: "batch pods get what kubelet does not know", version: cgroup.V1, features: []Feature{BatchResource{}},
			want: map[string]string{
				batch + "/cpu.shares": "512", batch + "/cpu.cfs_quota_us": "50000", batch + "/memory.limit_in_bytes": "1073741824",
				batch + "/" + id + "/cpu.shares": "512", batch + "/" + id + "/cpu.cfs_quota_us": "50000", batch + "/" + id + "/memory.limit_in_bytes": "1073741824",
			},
		},
		{
			name: "idle pods have no weight", version: cgroup.V2, features: []Feature{GroupIdentity{}, BatchResource{}},
			slo: slov1alpha1.NodeSLOSpec{ResourceQOSStrategy: strategy()},
			want: map[string]string{
				batch + "/cpu.idle": "1", batch + "/cpu.weight": "0", batch + "/cpu.max": "50000 100000", batch + "/memory.max": "1073741824",
				batch + "/" + id + "/cpu.weight": "20", batch + "/" + id + "/cpu.max": "50000 100000", batch + "/" + id + "/memory.max": "1073741824",
			},
		},
		{
			name: "CPUs of its own, and those that are shared", version: cgroup.V1, features: []Feature{CPUSetAllocator{}},
			reported: map[string]string{extension.AnnotationNodeCPUSharedPools: `[{"socket":0,"node":0,"cpuset":"0-3,6-9"}]`},
			want:     map[string]string{bound + "/" + id + "/cpuset.cpus": "4-5", service + "/" + id + "/cpuset.cpus": "0-3,6-9"},
		},
		{
			name: "CPUs of its own while the pools are not known", version: cgroup.V2, features: []Feature{CPUSetAllocator{}},
			want: map[string]string{bound + "/" + id + "/cpuset.cpus": "4-5"},
		},
		{
			name: "memory of services", version: cgroup.V2, features: []Feature{MemoryQoS{}}, slo: slov1alpha1.NodeSLOSpec{ResourceQOSStrategy: strategy()},
			want: map[string]string{
				"kubepods/memory.min": "1073741824", "kubepods/burstable/memory.min": "1073741824",
				service + "/memory.min": "1073741824", service + "/" + id + "/memory.min": "1073741824",
			},
		},
		{name: "memory of services, where the kernel has no such thing", version: cgroup.V1, features: []Feature{MemoryQoS{}}, slo: slov1alpha1.NodeSLOSpec{ResourceQOSStrategy: strategy()}},
		{name: "nothing is wanted", version: cgroup.V2, features: []Feature{GroupIdentity{}, MemoryQoS{}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			layout := cgroup.Layout{Version: test.version, Driver: cgroup.Cgroupfs}
			kernel := kernelfs.New(test.version, cpuset.Of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9))
			in := NodeSnapshot{
				Now: start, Period: time.Second, SLO: &test.slo, Tree: kernel, Layout: layout, Containers: NewContainers(kernel, layout),
			}
			for _, pod := range []*corev1.Pod{batchPod, boundPod, servicePod} {
				digest := state.PodOf(pod)
				in.Pods = append(in.Pods, digest)
				kernel.Make(layout.Pod(digest.Class(), digest.UID) + "/" + id)
			}
			if test.reported != nil {
				in.Reported = &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Annotations: test.reported}}
			}
			before := kernel.Dump()
			writer := writerOf(t, kernel, layout, test.features)
			if diff := cmp.Diff(test.want, written(t, kernel, writer, test.features, in, before)); diff != "" {
				t.Errorf("what was set (-want +got):\n%s", diff)
			}
			if outcome, err := writer.Restore(t.Context()); err != nil || outcome.Err() != nil {
				t.Fatal(err, outcome.Err())
			}
			if diff := cmp.Diff(before, kernel.Dump()); diff != "" {
				t.Errorf("something is left (-before +after):\n%s", diff)
			}
		})
	}
}

func writerOf(t *testing.T, kernel *kernelfs.Tree, layout cgroup.Layout, features []Feature) *executor.Executor {
	var owners []string
	for _, feature := range features {
		owners = append(owners, feature.Name())
	}
	writer, err := executor.New(executor.Options{
		Tree: kernel, Layout: layout, Owners: owners, Originals: checkpoint.File{Path: t.TempDir() + "/o"}, Audit: audit.NewLog(10),
		Clock: clocktesting.NewFakePassiveClock(start),
	})
	if err != nil {
		t.Fatal(err)
	}
	return writer
}

// written is what two rounds changed; the second one must find nothing to do.
func written(t *testing.T, kernel *kernelfs.Tree, writer *executor.Executor, features []Feature, in NodeSnapshot, before map[string]string) map[string]string {
	for round := range 2 {
		for _, feature := range features {
			if err := writer.Declare(feature.Name(), feature.DesiredValues(in)); err != nil {
				t.Fatal(err)
			}
		}
		outcome, err := writer.Apply(t.Context())
		if err != nil || outcome.Err() != nil {
			t.Fatal(err, outcome.Err())
		}
		if round > 0 && outcome.Writes > 0 {
			t.Errorf("%d writes though nothing changed", outcome.Writes)
		}
	}
	var changed map[string]string
	for path, content := range kernel.Dump() {
		if before[path] != content {
			if changed == nil {
				changed = map[string]string{}
			}
			changed[path] = content
		}
	}
	return changed
}

func TestContainersAreFoundWhenTheyStart(t *testing.T) {
	layout := cgroup.Layout{Version: cgroup.V2, Driver: cgroup.Systemd}
	kernel := kernelfs.New(cgroup.V2, cpuset.Of(0, 1))
	containers, pod := NewContainers(kernel, layout), state.PodOf(servicePod)
	if found := containers.Of(pod, start); len(found) > 0 {
		t.Errorf("found %v before there is a cgroup", found)
	}
	path := layout.Pod(pod.Class(), pod.UID) + "/cri-containerd-" + id + ".scope"
	kernel.Make(path)
	want := []Container{{Name: "main", ID: id, Cgroup: path}}
	if diff := cmp.Diff(want, containers.Of(pod, start.Add(time.Second))); diff != "" {
		t.Errorf("containers (-want +got):\n%s", diff)
	}
	reads, _ := kernel.Counts()
	containers.Of(pod, start.Add(2*time.Second))
	if again, _ := kernel.Counts(); again != reads {
		t.Error("a container that is known was looked for")
	}
	containers.Forget(start.Add(time.Hour))
	if len(containers.pods) > 0 {
		t.Error("a pod that nobody asks for is remembered")
	}
}
