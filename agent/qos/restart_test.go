package qos

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/state"
)

// ends removes the container of a pod, as the runtime does when it ended.
func (n *node) ends(pod int) {
	id := n.in.Pods[pod].Object.Status.ContainerStatuses[0].ContainerID
	n.kernel.Remove(n.podGroup(n.in.Pods[pod]) + "/" + strings.TrimPrefix(id, "containerd://"))
}

// startsAgain has kubelet start the container of a pod again, under another ID.
func (n *node) startsAgain(pod int, id string) {
	again := n.in.Pods[pod].Object.DeepCopy()
	again.Status.ContainerStatuses[0].ContainerID = "containerd://" + id
	n.in.Pods[pod] = state.PodOf(again)
	n.kernel.Make(n.podGroup(n.in.Pods[pod]) + "/" + id)
}

// TestAContainerThatStartsAgainGetsWhatTheOneBeforeHad, though its pod is one that the agent knows.
func TestAContainerThatStartsAgainGetsWhatTheOneBeforeHad(t *testing.T) {
	files := map[cgroup.Version]map[string]string{
		cgroup.V1: {
			"podbound/NEW/cpuset.cpus": "4-5", "podbound/NEW/cpu.cfs_quota_us": "-1",
			"besteffort/podbatch/NEW/cpu.shares": "512", "besteffort/podbatch/NEW/cpu.cfs_quota_us": "50000",
			"besteffort/podbatch/NEW/memory.limit_in_bytes": "1073741824",
		},
		cgroup.V2: {
			"podbound/NEW/cpuset.cpus": "4-5", "podbound/NEW/cpu.max": "max 100000",
			"besteffort/podbatch/NEW/cpu.weight": "20", "besteffort/podbatch/NEW/cpu.max": "50000 100000",
			"besteffort/podbatch/NEW/memory.max": "1073741824",
		},
	}
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := newNode(t, version, []Feature{CPUSetAllocator{}, BatchResource{}}, boundPod, batchPod)
		n.round()
		n.ends(0)
		n.ends(1)
		n.round() // the new container is not reported yet
		again := strings.Repeat("fedcba9876543210", 4)
		n.startsAgain(0, again)
		n.startsAgain(1, again)
		quota, _ := n.in.Layout.Path(cgroup.CPUQuota, "kubepods/podbound/"+again)
		if err := n.kernel.Write(quota, "200000"); err != nil { // as the runtime makes it
			t.Fatal(err)
		}
		made := n.dump()
		n.round()
		want, got := map[string]string{}, map[string]string{}
		for path, content := range files[version] {
			path = "kubepods/" + strings.Replace(path, "NEW", again, 1)
			want[path], got[path] = content, n.dump()[path]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the containers that were started again have (-want +got):\n%s", diff)
		}
		n.wantSteady()
		if outcome, err := n.writer.Restore(t.Context()); err != nil || outcome.Err() != nil {
			t.Fatal(err, outcome.Err())
		}
		for path, content := range n.dump() {
			if strings.Contains(path, again) && made[path] != content {
				t.Errorf("%s is %q when all was given back, and was made with %q", path, content, made[path])
			}
		}
	})
}
