package koordlet

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/connection/connectiontest"
	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

const nodeName = "node"

// rig is an agent on a machine of ten CPUs and two NUMA nodes, in a bubble whose time is its clock.
type rig struct {
	*testing.T
	server      *connectiontest.Server
	options     *Options
	clients     *connection.Clients
	cluster     *state.State
	machine     *loaded
	measurement *measurement
	enforcement *enforcement
	standing    *enforcingStatus
	events      *events.FakeRecorder
	group       sync.WaitGroup
	ctx         context.Context
	cancel      context.CancelFunc
}

// loaded is a machine whose pods use what the test says.
type loaded struct {
	mu      sync.Mutex
	begun   time.Time
	at      time.Time
	rates   map[types.UID]float64
	total   map[types.UID]time.Duration
	watched []host.Application
	// unread and undescribed are the errors of reading and of describing the machine; nil while that succeeds.
	unread, undescribed error
	// detailed has the service be throttled in a fifth of its periods, read 1000 bytes and write 8 times a second, and tasks of the
	// node wait for CPU a tenth of the time.
	detailed bool
	// waits is how long the agent gets no CPU before its next reading, and within it: after the node was read, and before the pods are.
	waits, waitsWithin time.Duration
}

// fail has it not be read, or not described.
func (l *loaded) fail(kubeletErr, undescribed error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unread, l.undescribed = kubeletErr, undescribed
}

func (l *loaded) Capacity(context.Context) (podrequest.Amount, error) {
	return podrequest.Amount{MilliCPU: 10000, Memory: 64 << 30}, nil
}

func (l *loaded) Topology(context.Context) (host.Topology, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.undescribed != nil {
		return host.Topology{}, l.undescribed
	}
	out := host.Topology{NUMANodes: []host.NUMANode{{ID: 0, Memory: 32 << 30}, {ID: 1, Memory: 32 << 30}}}
	for id := range int32(10) {
		out.CPUs = append(out.CPUs, extension.CPUInfo{ID: id, Core: id / 2, Socket: id / 5, Node: id / 5})
	}
	return out, nil
}

func (l *loaded) Watch(wanted []host.Application) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watched = wanted
}

// use has a pod, or "system", use so many CPUs from now on.
func (l *loaded) use(of types.UID, cpus float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance()
	l.rates[of] = cpus
}

func (l *loaded) advance() {
	now := time.Now()
	for of, rate := range l.rates {
		l.total[of] += time.Duration(float64(now.Sub(l.at)) * rate)
	}
	l.at = now
}

// starve has the agent get no CPU for a while, once.
func (l *loaded) starve(before, within time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits, l.waitsWithin = before, within
}

// pass lets time go by in which others may change what is used.
func (l *loaded) pass(wait *time.Duration) {
	d := *wait
	*wait = 0
	l.mu.Unlock()
	time.Sleep(d) // the bubble's time
	l.mu.Lock()
	l.advance()
}

func (l *loaded) Read(_ context.Context, into *host.Snapshot) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass(&l.waits)
	*into = host.Snapshot{Time: l.at}
	if l.unread != nil {
		return l.unread
	}
	for _, total := range l.total {
		into.Node.CPU += total
	}
	l.pass(&l.waitsWithin)
	for _, uid := range []types.UID{"app", "batch", "service", "system"} {
		counter := host.Counter{CPU: l.total[uid], Memory: 1 << 30, Cache: 1 << 28}
		into.Node.Memory += counter.Memory
		into.Node.Cache += counter.Cache
		switch {
		case uid == "app" && len(l.watched) > 0:
			into.Applications = append(into.Applications, host.ApplicationCounter{Name: "app", Counter: counter})
		case uid == "batch" || uid == "service":
			into.Pods = append(into.Pods, host.PodCounter{UID: uid, Counter: counter})
			if l.detailed && uid == "service" {
				into.Pods[len(into.Pods)-1].Details, into.Pressure = l.details()
			}
		}
	}
	half := host.Counter{CPU: into.Node.CPU / 2, Memory: into.Node.Memory / 2}
	into.NUMANodes = []host.NUMACounter{{ID: 0, Counter: half, PodMemory: 1 << 30}, {ID: 1, Counter: half, PodMemory: 1 << 30}}
	return nil
}

// details are those of the service, and the pressure on the node.
func (l *loaded) details() (host.Details, host.Pressure) {
	over := l.at.Sub(l.begun)
	periods, seconds := int64(over/(100*time.Millisecond)), int64(over/time.Second)
	return host.Details{
		Throttling: host.Throttling{Periods: periods, Throttled: periods / 5}, BlockIO: host.BlockIO{At: l.at, ReadBytes: seconds * 1000, Writes: seconds * 8},
	}, host.Pressure{At: l.at, CPU: host.Stall{Some: over / 10}}
}

// newRig starts following the cluster. It is made within a bubble; stop ends it.
func newRig(t *testing.T, change func(*Options)) *rig {
	r := newIdleRig(t, change)
	r.follow()
	return r
}

// follow the cluster.
func (r *rig) follow() { r.group.Go(func() { r.cluster.Run(r.ctx) }) }

// newIdleRig is one that does not follow the cluster yet.
func newIdleRig(t *testing.T, change func(*Options)) *rig {
	r := &rig{T: t, server: connectiontest.New(), options: NewOptions(), machine: &loaded{begun: time.Now(), at: time.Now(), rates: map[types.UID]float64{}, total: map[types.UID]time.Duration{}}}
	directory := t.TempDir()
	r.options.RESTConfig, r.options.NodeName, r.options.StateDirectory = r.server.Config(), nodeName, directory
	r.options.Cgroup, r.options.Proc, r.options.Sys, r.options.KubeletDirectory = filepath.Join(directory, "cgroup"), filepath.Join(directory, "proc"), filepath.Join(directory, "sys"), directory
	r.options.layout = cgroup.Layout{Version: cgroup.V1, Driver: cgroup.Cgroupfs}
	if change != nil {
		change(r.options)
	}
	r.files()
	size := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("64Gi")}
	r.put("nodes", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, UID: "n"}, Status: corev1.NodeStatus{Capacity: size, Allocatable: size}})
	r.put("pods", r.pod("service", extension.QoSLS, corev1.PodQOSBurstable))
	r.put("pods", r.pod("batch", extension.QoSBE, corev1.PodQOSBestEffort))
	r.put("nodeslos", &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: nodeName}, Spec: slov1alpha1.NodeSLOSpec{
		HostApplications: []slov1alpha1.HostApplicationSpec{{Name: "app", QoS: extension.QoSLS, Priority: extension.PriorityProd}},
		ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{
			Enable: new(true), CPUSuppressThresholdPercent: new(int64(90)), CPUSuppressPolicy: slov1alpha1.CPUCfsQuotaPolicy,
		},
	}})
	r.put("nodemetrics", &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: nodeName, UID: "m"}})
	var err error
	if r.clients, err = connection.New(r.server.Config(), "test", 1000); err != nil {
		t.Fatal(err)
	}
	if r.cluster, err = state.New(r.clients, nodeName); err != nil {
		t.Fatal(err)
	}
	trees, err := openTrees(r.options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(trees.close)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.events = events.NewFakeRecorder(100)
	r.measurement = newMeasurement(r.options, r.machine, r.cluster)
	if r.enforcement, err = newEnforcement(r.options, r.clients.Core, r.events, trees, r.options.layout); err != nil {
		t.Fatal(err)
	}
	r.standing = newEnforcingStatus(r.options, r.cluster, r.enforcement)
	return r
}

// files are those of the cgroups that suppression writes.
func (r *rig) files() {
	for _, at := range []string{"kubepods/besteffort", "kubepods/besteffort/podbatch", "kubepods/burstable/podservice"} {
		for file, content := range map[string]string{
			"cpu/" + at + "/cpu.cfs_quota_us": "-1\n", "cpu/" + at + "/cpu.cfs_period_us": "100000\n", "cpu/" + at + "/cpu.shares": "2\n",
			"cpuset/" + at + "/cpuset.cpus": "0-9\n", "cpuacct/" + at + "/cpuacct.usage": "0\n",
		} {
			r.file(filepath.Join(r.options.Cgroup, file), content)
		}
	}
	r.file(filepath.Join(r.options.Proc, "stat"), "cpu 0 0 0 0 0\n")
	r.file(filepath.Join(r.options.Sys, "x"), "")
}

func (r *rig) file(name, content string) {
	r.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) put(resource string, object any) {
	r.Helper()
	if err := r.server.Put(resource, object); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) pod(name string, qos extension.QoSClass, class corev1.PodQOSClass) *corev1.Pod {
	started := metav1.NewTime(time.Now().Add(-48 * time.Hour))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{extension.LabelPodQoS: string(qos)}},
		Spec:       corev1.PodSpec{NodeName: nodeName, Containers: []corev1.Container{{Name: "c"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: class, StartTime: &started},
	}
	if qos != extension.QoSBE {
		pod.Spec.Priority = new(int32(9500))
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("16Gi")}
	}
	return pod
}

// quota of best-effort pods as it is written.
func (r *rig) quota() string {
	r.Helper()
	content, err := os.ReadFile(filepath.Join(r.options.Cgroup, "cpu/kubepods/besteffort/cpu.cfs_quota_us"))
	if err != nil {
		r.Fatal(err)
	}
	return strings.TrimSpace(string(content))
}

// after lets time pass, and what is to happen in it.
func (r *rig) after(d time.Duration) {
	time.Sleep(d) // the bubble's time
	synctest.Wait()
}

func (r *rig) stop() {
	r.cancel()
	r.group.Wait()
}
