package qos

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"

	"github.com/google/go-cmp/cmp"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// rig is a machine of ten CPUs with one service and one best-effort pod, and the feature that holds the latter back.
type rig struct {
	*testing.T
	kernel      *kernelfs.Tree
	layout      cgroup.Layout
	executor    *executor.Executor
	suppression *Suppression
	now         time.Time
	strategy    *slov1alpha1.ResourceThresholdStrategy
	// used by pods in CPUs, by UID, and by the node.
	used     map[types.UID]float64
	usedNode float64
	pods     []*state.Pod
	node     *corev1.Node
	reported *topologyv1alpha1.NodeResourceTopology
	// offline is a CPU that the machine no longer lists; negative for none.
	offline int
}

func newRig(t *testing.T, version cgroup.Version) *rig {
	r := &rig{
		T: t, kernel: kernelfs.New(version, cpuset.Of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)), layout: cgroup.Layout{Version: version, Driver: cgroup.Cgroupfs},
		suppression: &Suppression{}, now: start, used: map[types.UID]float64{}, strategy: &slov1alpha1.ResourceThresholdStrategy{Enable: new(true)}, offline: -1,
	}
	r.add("service", extension.QoSLS, corev1.PodQOSBurstable)
	r.add("batch", extension.QoSBE, corev1.PodQOSBestEffort)
	var err error
	r.executor, err = executor.New(executor.Options{
		Tree: r.kernel, Layout: r.layout, Owners: []string{r.suppression.Name()}, Originals: checkpoint.File{Path: t.TempDir() + "/o"},
		Audit: audit.NewLog(10), Clock: clocktesting.NewFakePassiveClock(start),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) add(uid types.UID, qos extension.QoSClass, class corev1.PodQOSClass) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: string(uid), Namespace: "ns", UID: uid, Labels: map[string]string{extension.LabelPodQoS: string(qos)}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: class},
	}
	r.pods = append(r.pods, state.PodOf(pod))
	r.kernel.Make(r.layout.Pod(class, uid) + "/c")
	r.kernel.Enter(r.layout.Pod(class, uid)+"/c", 1)
}

func (r *rig) topology() *cpuset.Topology {
	var cpus []extension.CPUInfo
	for id := range int32(10) {
		if int(id) != r.offline {
			cpus = append(cpus, extension.CPUInfo{ID: id, Core: id / 2})
		}
	}
	topology, err := cpuset.NewTopology(&extension.CPUTopology{Detail: cpus})
	if err != nil {
		r.Fatal(err)
	}
	return topology
}

// round decides and writes once, a second later.
func (r *rig) round() {
	r.Helper()
	r.now = r.now.Add(time.Second)
	usage := func(cpus float64) metrics.Usage { return metrics.Usage{NanoCores: int64(cpus * 1e9)} }
	values := r.suppression.DesiredValues(NodeSnapshot{
		Now: r.now, Period: time.Second, SLO: &slov1alpha1.NodeSLOSpec{ResourceUsedThresholdWithBE: r.strategy}, Pods: r.pods, Node: r.node, Reported: r.reported,
		Capacity: podrequest.Amount{MilliCPU: 10000}, Topology: r.topology(), Tree: r.kernel, Layout: r.layout, Containers: NewContainers(r.kernel, r.layout),
		Used: func() (metrics.Usage, bool) { return usage(r.usedNode), r.usedNode > 0 },
		PodUsed: func(uid types.UID) (metrics.Usage, bool) {
			used, measured := r.used[uid]
			return usage(used), measured
		},
	})
	if err := r.executor.Declare(r.suppression.Name(), values); err != nil {
		r.Fatal(err)
	}
	outcome, err := r.executor.Apply(r.Context())
	if err != nil || outcome.Err() != nil {
		r.Fatal(err, outcome.Err())
	}
}

func (r *rig) wantCPUs(want int) {
	r.Helper()
	for _, at := range []string{"kubepods/besteffort", "kubepods/besteffort/podbatch", "kubepods/besteffort/podbatch/c"} {
		in := NodeSnapshot{Tree: r.kernel, Layout: r.layout}
		list, _ := in.read(cgroup.CPUSet, at)
		cpus, err := cpuset.Parse(list)
		if err != nil || cpus.Len() != want {
			r.Errorf("%s has CPUs %q, want %d", at, list, want)
		}
	}
}

func onBoth(t *testing.T, test func(*rig)) {
	for name, version := range map[string]cgroup.Version{"version 1": cgroup.V1, "version 2": cgroup.V2} {
		t.Run(name, func(t *testing.T) { test(newRig(t, version)) })
	}
}

func TestBestEffortPodsYieldAtOnceAndReturnSlowly(t *testing.T) {
	onBoth(t, func(r *rig) {
		before := r.kernel.Dump()
		r.used["service"], r.used["batch"], r.usedNode = 3, 3, 6.5
		r.round() // 65 % of 10, less 3 and 0.5 of the system
		r.wantCPUs(3)
		r.used["service"], r.usedNode = 6, 9.5
		r.round()
		r.wantCPUs(2) // never fewer
		r.used["service"], r.usedNode = 0.5, 3
		for _, want := range []int{3, 4, 5, 6, 6} {
			r.round()
			r.wantCPUs(want)
		}
		r.strategy = nil
		r.round()
		if diff := cmp.Diff(before, r.kernel.Dump()); diff != "" {
			t.Errorf("something is left (-before +after):\n%s", diff)
		}
	})
}

// TestCPUsThatAreKeptAreNotLent: a node keeps some for processes outside of Kubernetes and for SYSTEM pods, and kubelet for its pods.
func TestCPUsThatAreKeptAreNotLent(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			extension.AnnotationNodeReservation: `{"reservedCPUs":"0-1"}`, extension.AnnotationSystemQOSResource: `{"cpuset":"2"}`,
		}}}
		r.reported = &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			extension.AnnotationNodePodCPUAllocs: `[{"cpuset":"3","managedByKubelet":true}]`,
		}}}
		r.usedNode = 0.1
		r.round()
		list, _ := (&NodeSnapshot{Tree: r.kernel, Layout: r.layout}).read(cgroup.CPUSet, "kubepods/besteffort/podbatch")
		cpus, err := cpuset.Parse(list)
		if kept := cpuset.Of(0, 1, 2, 3); err != nil || cpus.IsEmpty() || !cpus.Intersection(kept).IsEmpty() {
			t.Errorf("best-effort pods run on CPUs %q, of which 0-3 are kept", list)
		}
	})
}

// TestACPUThatGoesOfflineIsNotLent, not even while nothing is measured and limits stay: the kernel would refuse the whole list.
func TestACPUThatGoesOfflineIsNotLent(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.used["service"], r.used["batch"], r.usedNode = 3, 3, 6.5
		r.round()
		r.wantCPUs(3)
		r.offline = r.suppression.Decision().CPUs.CPUs.List()[0]
		r.kernel.Offline(r.offline)
		r.add("late", extension.QoSBE, corev1.PodQOSBestEffort)
		r.used, r.usedNode = map[types.UID]float64{}, 0
		r.round()
		r.wantCPUs(2)
		r.used, r.usedNode = map[types.UID]float64{"service": 3, "batch": 2, "late": 1}, 6.5
		r.round()
		r.wantCPUs(3)
		if lent := r.suppression.Decision().CPUs.CPUs; lent.Has(r.offline) {
			t.Errorf("CPUs %s are lent, of which %d is offline", lent, r.offline)
		}
		r.strategy = nil
		r.round()
		r.wantCPUs(9)
	})
}

func TestWithoutAMeasurementLimitsStay(t *testing.T) {
	r := newRig(t, cgroup.V1)
	r.used["service"], r.usedNode = 4, 4
	r.round()
	r.wantCPUs(3)
	r.used, r.usedNode = map[types.UID]float64{}, 0
	r.round()
	r.wantCPUs(3)
	if r.suppression.Decision().Hold == "" {
		t.Error("nothing is said about why limits stay")
	}
}

func TestThePolicyMayChange(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.used["service"], r.usedNode = 4, 4
		r.round()
		r.wantCPUs(3)
		r.strategy.CPUSuppressPolicy = slov1alpha1.CPUCfsQuotaPolicy
		r.round()
		r.wantCPUs(10)
		in := NodeSnapshot{Tree: r.kernel, Layout: r.layout}
		if quota, _ := in.read(cgroup.CPUQuota, "kubepods/besteffort"); quota != "250000" {
			t.Errorf("quota %s, want 250000", quota)
		}
		r.strategy.CPUSuppressPolicy = slov1alpha1.CPUSetPolicy
		r.round()
		if quota, _ := in.read(cgroup.CPUQuota, "kubepods/besteffort"); quota != "-1" {
			t.Errorf("quota %s, want none", quota)
		}
		r.wantCPUs(3)
	})
}

func TestPodsThatComeAreHeldBackToo(t *testing.T) {
	r := newRig(t, cgroup.V1)
	r.used["service"], r.usedNode = 4, 4
	r.round()
	r.kernel.Make("kubepods/besteffort/podlate/c")
	r.add("late", extension.QoSBE, corev1.PodQOSBestEffort)
	r.round()
	in := NodeSnapshot{Tree: r.kernel, Layout: r.layout}
	if list, _ := in.read(cgroup.CPUSet, "kubepods/besteffort/podlate/c"); list != r.suppression.Decision().CPUs.List {
		t.Errorf("the new pod has CPUs %s, want %s", list, r.suppression.Decision().CPUs.List)
	}
}
