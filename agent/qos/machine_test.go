package qos

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/state"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
)

// node is an imitated machine of ten CPUs with pods, and the features that act on it.
type node struct {
	*testing.T
	kernel    *kernelfs.Tree
	proc, sys *kernelfs.Machine
	writer    *executor.Executor
	log       *audit.Log
	features  []Feature
	in        NodeSnapshot
	// used in milli-cores by pods and containers, and by the node.
	used     map[string]int64
	usedNode int64
	// throttled containers, by ID.
	throttled map[string]bool
	// before is what all files had.
	before map[string]string
}

func newNode(t *testing.T, version cgroup.Version, features []Feature, pods ...*corev1.Pod) *node {
	layout := cgroup.Layout{Version: version, Driver: cgroup.Cgroupfs}
	n := &node{
		T: t, kernel: kernelfs.New(version, cpuset.Of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)), proc: kernelfs.NewMachine(), sys: kernelfs.NewMachine(),
		log: audit.NewLog(1000), features: features, used: map[string]int64{}, throttled: map[string]bool{},
	}
	n.in = NodeSnapshot{
		Now: start, Period: time.Second, SLO: &slov1alpha1.NodeSLOSpec{}, Tree: n.kernel, Proc: n.proc, Sys: n.sys, Layout: layout, Audit: n.log,
		Containers: NewContainers(n.kernel, layout), Capacity: podrequest.Amount{MilliCPU: 10000, Memory: 100 << 30},
		Used: func() (metrics.Usage, bool) { return milli(n.usedNode), n.usedNode > 0 },
		PodUsed: func(uid types.UID) (metrics.Usage, bool) {
			used, found := n.used[string(uid)]
			return milli(used), found
		},
		Measured: Measured{
			ContainerUsed: func(id string) (metrics.Usage, bool) { used, found := n.used[id]; return milli(used), found },
			ContainerThrottled: func(id string) (metrics.Throttling, bool) {
				if n.throttled[id] {
					return metrics.Throttling{Ratio: 0.5, Periods: 10}, true
				}
				return metrics.Throttling{}, true
			},
		},
	}
	for _, class := range []corev1.PodQOSClass{corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
		n.kernel.Make(layout.QoS(class)) // kubelet has them with and without pods
	}
	for _, pod := range pods {
		digest := state.PodOf(pod)
		n.in.Pods = append(n.in.Pods, digest)
		for _, status := range pod.Status.ContainerStatuses {
			n.kernel.Make(n.podGroup(digest) + "/" + status.ContainerID[len("containerd://"):])
		}
	}
	n.begin()
	return n
}

func milli(used int64) metrics.Usage { return metrics.Usage{NanoCores: used * 1e6} }

func (n *node) podGroup(pod *state.Pod) string { return n.in.Layout.Pod(pod.Class(), pod.UID) }

// begin takes what is there as what must return.
func (n *node) begin() {
	n.restart(&memory{})
	n.before = n.dump()
}

// restart is what happens when the agent is started again, however it ended.
func (n *node) restart(store executor.Store) {
	var owners []string
	for _, feature := range n.features {
		owners = append(owners, feature.Name())
	}
	var err error
	n.writer, err = executor.New(executor.Options{
		Tree: n.kernel, Proc: n.proc, Sys: n.sys, Layout: n.in.Layout, Owners: owners, Originals: store,
		Audit: n.log, Clock: clocktesting.NewFakePassiveClock(start),
	})
	if err != nil {
		n.Fatal(err)
	}
}

// memory is a store that outlives the executor alone.
type memory struct{ content []byte }

func (m *memory) Save(data any) (err error) {
	m.content, err = json.Marshal(data)
	return err
}

func (m *memory) Load(data any) (bool, error) {
	if m.content == nil {
		return false, nil
	}
	return true, json.Unmarshal(m.content, data)
}

// dump returns the content of all files that can be written.
func (n *node) dump() map[string]string {
	out := n.kernel.Dump()
	for prefix, machine := range map[string]*kernelfs.Machine{"/proc/": n.proc, "/sys/": n.sys} {
		for path, content := range machine.Dump() {
			out[prefix+path] = content
		}
	}
	return out
}

// round decides and writes once, a second later, and returns how many files were written.
func (n *node) round() int {
	n.Helper()
	n.in.Now = n.in.Now.Add(n.in.Period)
	for _, feature := range n.features {
		if err := n.writer.Declare(feature.Name(), feature.DesiredValues(n.in)); err != nil {
			n.Fatal(err)
		}
	}
	outcome, err := n.writer.Apply(n.Context())
	if err != nil || outcome.Err() != nil {
		n.Fatal(err, outcome.Err())
	}
	return outcome.Writes
}

// wantChanged compares all that differs from before.
func (n *node) wantChanged(want map[string]string) {
	n.Helper()
	got := map[string]string{}
	for path, content := range n.dump() {
		if n.before[path] != content {
			got[path] = content
		}
	}
	if want == nil {
		want = map[string]string{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		n.Errorf("what was set (-want +got):\n%s", diff)
	}
}

// wantSteady wants no writes while nothing changes.
func (n *node) wantSteady() {
	n.Helper()
	for range 3 {
		if writes := n.round(); writes > 0 {
			n.Errorf("%d writes though nothing changed", writes)
		}
	}
}

// wantRestored gives everything back, and wants all as before but for what is given.
func (n *node) wantRestored(but map[string]string) {
	n.Helper()
	if outcome, err := n.writer.Restore(n.Context()); err != nil || outcome.Err() != nil {
		n.Fatal(err, outcome.Err())
	}
	want := maps.Clone(n.before)
	maps.Copy(want, but)
	if diff := cmp.Diff(want, n.dump()); diff != "" {
		n.Errorf("something is left (-before +after):\n%s", diff)
	}
}

// versions runs a test with either version of cgroups.
func versions(t *testing.T, test func(t *testing.T, version cgroup.Version)) {
	for name, version := range map[string]cgroup.Version{"version 1": cgroup.V1, "version 2": cgroup.V2} {
		t.Run(name, func(t *testing.T) { test(t, version) })
	}
}
