package livecgroup

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/machine"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/test/livecgroup/work"
)

// patience is how long a test waits for what usually takes less than a second.
const patience = time.Minute

// id of the container in every pod.
var id = strings.Repeat("0123456789abcdef", 4)

// rig is three pods that really are in cgroups, with a process each, and the agent's writer.
type rig struct {
	*Tree
	t         *testing.T
	proc, sys files.FS
	pods      []*state.Pod
	processes map[types.UID]*Process
	machine   *machine.Machine
	executor  *executor.Executor
	features  []qos.Feature
	slo       slov1alpha1.NodeSLOSpec
	// used by pods in milli-cores, and by the node.
	used     map[types.UID]int64
	usedNode int64
}

// The pods: a service, one that has CPU 1 for itself, and a best-effort one.
const (
	service types.UID = "service"
	bound   types.UID = "bound"
	batch   types.UID = "batch"
)

func newRig(t *testing.T, features ...qos.Feature) *rig {
	tree := Open(t)
	r := &rig{Tree: tree, t: t, features: features, processes: map[types.UID]*Process{}, used: map[types.UID]int64{}}
	r.proc, r.sys = open(t, "/proc"), open(t, "/sys")
	// As kubelet writes them, and not as the kernel begins.
	r.add(service, extension.QoSLS, corev1.PodQOSBurstable, "700", list("cpu", "1", "memory", "64Mi"), list("cpu", "1", "memory", "128Mi"), nil)
	alone, offered := list("cpu", "1", "memory", "64Mi"), list("kubernetes.io/batch-cpu", "500", "kubernetes.io/batch-memory", "256Mi")
	r.add(bound, extension.QoSLSR, corev1.PodQOSGuaranteed, "1024", alone, alone,
		map[string]string{extension.AnnotationResourceStatus: `{"cpuset":"1"}`})
	r.add(batch, extension.QoSBE, corev1.PodQOSBestEffort, "2", offered, offered, nil)
	r.write(cgroup.CPUShares, r.Layout().QoS(corev1.PodQOSBestEffort), "2")
	var err error
	if r.machine, err = machine.New(machine.Options{Proc: r.proc, Sys: r.sys, Cgroup: tree, Layout: r.Layout(), Clock: clock.RealClock{}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.machine.Close)
	var owners []string
	for _, feature := range features {
		owners = append(owners, feature.Name())
	}
	r.executor, err = executor.New(executor.Options{
		Tree: tree, Layout: r.Layout(), Proc: r.proc, Sys: r.sys, Owners: owners, Originals: checkpoint.File{Path: t.TempDir() + "/o"},
		Audit: audit.NewLog(100), Clock: clock.RealClock{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func open(t *testing.T, at string) *files.Real {
	tree, err := files.NewReal(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() }) // nothing is buffered
	return tree
}

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// add makes a pod with one container, in which a process waits.
func (r *rig) add(uid types.UID, class extension.QoSClass, kubeClass corev1.PodQOSClass, shares string, requests, limits corev1.ResourceList, annotations map[string]string) {
	r.t.Helper()
	labels := map[string]string{extension.LabelPodQoS: string(class)}
	if class == extension.QoSBE {
		labels[extension.LabelPodPriorityClass] = string(extension.PriorityBatch)
	}
	pod := state.PodOf(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: string(uid), Namespace: "ns", UID: uid, Labels: labels, Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: kubeClass, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", ContainerID: "containerd://" + id, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}},
	})
	r.pods = append(r.pods, pod)
	at := r.Layout().Pod(kubeClass, uid)
	r.Make(at + "/" + id)
	r.write(cgroup.CPUShares, at, shares)
	if quantity, limited := limits[corev1.ResourceCPU]; limited {
		r.write(cgroup.CPUQuota, at, strconv.FormatInt(quantity.MilliValue()*100, 10))
	}
	r.processes[uid] = r.Start(at+"/"+id, work.Wait)
}

func (r *rig) write(setting cgroup.Setting, at, value string) {
	r.t.Helper()
	path, _ := r.Layout().Path(setting, at)
	content, err := setting.Encode(r.Version, value)
	if err == nil {
		err = r.Write(path, content)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// value is what the kernel shows of a setting, as version 1 has it.
func (r *rig) value(setting cgroup.Setting, at string) string {
	r.t.Helper()
	path, _ := r.Layout().Path(setting, at)
	content, err := r.Read(path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	value, err := setting.Decode(r.Version, string(content))
	if err != nil {
		r.t.Fatal(err)
	}
	return value
}

// round has the features declare and the executor write.
func (r *rig) round() {
	r.t.Helper()
	snapshot := r.snapshot()
	for _, feature := range r.features {
		if err := r.executor.Declare(feature.Name(), feature.DesiredValues(snapshot)); err != nil {
			r.t.Fatal(err)
		}
	}
	outcome, err := r.executor.Apply(r.t.Context())
	if err != nil || outcome.Err() != nil {
		r.t.Fatal(err, outcome.Err())
	}
}

func (r *rig) snapshot() qos.NodeSnapshot {
	topology, err := r.machine.Topology(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	cpus, err := cpuset.NewTopology(&extension.CPUTopology{Detail: topology.CPUs})
	if err != nil {
		r.t.Fatal(err)
	}
	usage := func(milli int64) metrics.Usage { return metrics.Usage{NanoCores: milli * 1e6} }
	return qos.NodeSnapshot{
		Now: time.Now(), Period: time.Second, SLO: &r.slo, Pods: r.pods, Capacity: podrequest.Amount{MilliCPU: int64(r.CPUs.Len()) * 1000},
		Topology: cpus, Tree: r.Tree, Proc: r.proc, Sys: r.sys, Layout: r.Layout(), Containers: qos.NewContainers(r.Tree, r.Layout()),
		Used:    func() (metrics.Usage, bool) { return usage(r.usedNode), r.usedNode > 0 },
		PodUsed: func(uid types.UID) (metrics.Usage, bool) { return usage(r.used[uid]), true },
	}
}

// dump is all that the agent may set below the test's cgroup, and what CPUs there are in effect.
func (r *rig) dump() map[string]string {
	names := []string{
		"cpu.weight", "cpu.max", "cpu.max.burst", "cpu.idle", "cpuset.cpus.effective", "cpuset.mems.effective", "memory.min", "memory.low",
		"memory.high", "memory.max", "memory.oom.group", "io.max", "io.weight",
	}
	if r.Version == cgroup.V1 {
		names = []string{
			"cpu.shares", "cpu.cfs_quota_us", "cpu.cfs_burst_us", "cpu.idle", "cpuset.cpus", "cpuset.mems", "memory.limit_in_bytes",
			"blkio.throttle.read_bps_device",
		}
	}
	out := map[string]string{}
	for _, hierarchy := range r.cgroups.Hierarchies() {
		_ = filepath.WalkDir(filepath.Join(mount, hierarchy, r.Root), func(path string, entry os.DirEntry, err error) error {
			if err == nil && slices.Contains(names, entry.Name()) {
				content, err := os.ReadFile(path)
				if err != nil {
					r.t.Fatal(err)
				}
				out[strings.TrimPrefix(path, mount+"/")] = string(content)
			}
			return nil
		})
	}
	if len(out) == 0 {
		r.t.Fatal("there is nothing to be seen of the test's cgroups")
	}
	return out
}

// restore gives everything back, and fails the test for what is not as it was.
func (r *rig) restore(before map[string]string) {
	r.t.Helper()
	outcome, err := r.executor.Restore(r.t.Context())
	if err != nil || outcome.Err() != nil {
		r.t.Error(err, outcome.Err())
	}
	after := r.dump()
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if before[path] != after[path] {
			r.t.Errorf("%s was %q, and is %q when all was given back", path, before[path], after[path])
		}
	}
}
