package cpupool

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
)

var node = Node{
	Shared: []extension.CPUSharedPool{{Node: 0, CPUSet: "4-7"}, {Node: 1, CPUSet: "12-15"}},
	System: "0-1", KubeletPolicy: extension.KubeletCPUManagerPolicyNone,
}

func status(json string) map[string]string {
	return map[string]string{extension.AnnotationResourceStatus: json}
}

func TestChoose(t *testing.T) {
	static := node
	static.KubeletPolicy = extension.KubeletCPUManagerPolicyStatic
	bare := Node{}
	broken := node
	broken.Shared = []extension.CPUSharedPool{{CPUSet: "4-"}}
	const guaranteed, burstable, bestEffort = corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort
	tests := map[string]struct {
		node        Node
		pod         Pod
		wantSource  Source
		want        string
		wantProblem bool
	}{
		"CPUs of its own":                                   {node, Pod{QoS: extension.QoSLSR, KubeQOS: guaranteed, Owned: cpuset.Of(2, 3)}, Allocated, "2-3", false},
		"CPUs of its own under a static kubelet":            {static, Pod{QoS: extension.QoSLSE, KubeQOS: guaranteed, Owned: cpuset.Of(2, 3)}, Allocated, "2-3", false},
		"CPUs that the kubelet gave":                        {static, Pod{QoS: extension.QoSLS, KubeQOS: guaranteed, KubeletOwned: true}, Left, "", false},
		"services share all pools":                          {node, Pod{QoS: extension.QoSLS, KubeQOS: burstable}, SharedPools, "4-7,12-15", false},
		"also under a static kubelet":                       {static, Pod{QoS: extension.QoSLS, KubeQOS: burstable}, SharedPools, "4-7,12-15", false},
		"also when Kubernetes runs them as best effort":     {node, Pod{QoS: extension.QoSLS, KubeQOS: bestEffort}, SharedPools, "4-7,12-15", false},
		"a NUMA node of its choice":                         {node, Pod{QoS: extension.QoSLS, Annotations: status(`{"numaNodeResources":[{"node":1}]}`)}, NUMAPools, "12-15", false},
		"two of them":                                       {node, Pod{QoS: extension.QoSLS, Annotations: status(`{"numaNodeResources":[{"node":1},{"node":0}]}`)}, NUMAPools, "4-7,12-15", false},
		"a NUMA node that shares nothing":                   {node, Pod{QoS: extension.QoSLS, Annotations: status(`{"numaNodeResources":[{"node":7}]}`)}, SharedPools, "4-7,12-15", false},
		"SYSTEM pods":                                       {node, Pod{QoS: extension.QoSSystem, KubeQOS: burstable}, SystemPool, "0-1", false},
		"SYSTEM pods where nothing is kept":                 {Node{Shared: node.Shared}, Pod{QoS: extension.QoSSystem, KubeQOS: burstable}, SharedPools, "4-7,12-15", false},
		"best effort":                                       {node, Pod{QoS: extension.QoSBE, KubeQOS: bestEffort}, Inherited, "", false},
		"best effort on a NUMA node":                        {node, Pod{QoS: extension.QoSBE, KubeQOS: bestEffort, Annotations: status(`{"numaNodeResources":[{"node":1}]}`)}, Inherited, "", false},
		"best effort without a label":                       {static, Pod{KubeQOS: bestEffort}, Inherited, "", false},
		"without a label, the kubelet binds nothing":        {node, Pod{KubeQOS: burstable}, SharedPools, "4-7,12-15", false},
		"without a label, the kubelet decides":              {static, Pod{KubeQOS: guaranteed}, Left, "", false},
		"LSR that was not allocated CPUs, static":           {static, Pod{QoS: extension.QoSLSR, KubeQOS: guaranteed}, Left, "", false},
		"an allocation that cannot be read":                 {node, Pod{QoS: extension.QoSLS, Annotations: status(`{`)}, SharedPools, "4-7,12-15", true},
		"CPUs that it claims and does not own":              {node, Pod{QoS: extension.QoSLSR, Annotations: status(`{"cpuset":"0-1"}`)}, SharedPools, "4-7,12-15", false},
		"best effort that claims CPUs":                      {node, Pod{QoS: extension.QoSBE, KubeQOS: bestEffort, Annotations: status(`{"cpuset":"0-1"}`)}, Inherited, "", false},
		"pools that are not known":                          {bare, Pod{QoS: extension.QoSLS}, Left, "", false},
		"pools that cannot be read":                         {broken, Pod{QoS: extension.QoSLS}, Left, "", true},
		"CPUs of SYSTEM pods that cannot be read":           {Node{System: "x"}, Pod{QoS: extension.QoSSystem, KubeQOS: burstable}, Left, "", true},
		"CPUs of SYSTEM pods that are none, but not absent": {Node{System: " "}, Pod{QoS: extension.QoSSystem, KubeQOS: burstable}, Left, "", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Choose(tc.node, tc.pod)
			if got.Source != tc.wantSource || got.CPUs != tc.want || (got.Problem != "") != tc.wantProblem || got.Reason == "" {
				t.Errorf("%+v, want %s %q", got, tc.wantSource, tc.want)
			}
			if got.Write != (got.Source != Left) || got.LiftQuota != (got.Source == Allocated) {
				t.Errorf("%+v: written or lifted against its source", got)
			}
		})
	}
}

// TestCPUsThatAreOfflineAreLeftOut, or the kernel refuses them all.
func TestCPUsThatAreOfflineAreLeftOut(t *testing.T) {
	own := func(list string) Pod {
		cpus, err := cpuset.Parse(list)
		if err != nil {
			t.Fatal(err)
		}
		return Pod{QoS: extension.QoSLSR, Owned: cpus}
	}
	service := Pod{QoS: extension.QoSLS}
	tests := map[string]struct {
		online cpuset.CPUSet
		pod    Pod
		want   Choice
	}{
		"all of its own are there": {
			cpuset.Of(2, 3, 4), own("2-3"), Choice{Source: Allocated, CPUs: "2-3", Write: true, LiftQuota: true, Reason: "the scheduler allocated them"},
		},
		"some of its own are not": {
			cpuset.Of(0, 2, 3, 6), own("2-5"),
			Choice{Source: Allocated, CPUs: "2-3", Write: true, LiftQuota: true, Reason: "the scheduler allocated them, and some are offline", Problem: "of CPUs 2-5, 4-5 are offline"},
		},
		"none of its own is": {
			cpuset.Of(0, 1), own("2-3"), Choice{Source: Left, Reason: "none of its CPUs is online", Problem: "of CPUs 2-3, 2-3 are offline"},
		},
		"some of the shared ones are not": {
			cpuset.Of(4, 5, 12), service,
			Choice{Source: SharedPools, CPUs: "4-5,12", Write: true, Reason: "all shared CPUs, and some are offline", Problem: "of CPUs 4-7,12-15, 6-7,13-15 are offline"},
		},
		"best effort has no list of its own": {
			cpuset.Of(0), Pod{QoS: extension.QoSBE}, Choice{Source: Inherited, Write: true, Reason: "suppression decides the CPUs of all best-effort pods together"},
		},
		"which are there is not known": {
			cpuset.CPUSet{}, own("2-3"), Choice{Source: Allocated, CPUs: "2-3", Write: true, LiftQuota: true, Reason: "the scheduler allocated them"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			on := node
			on.Online = tc.online
			if diff := cmp.Diff(tc.want, Choose(on, tc.pod)); diff != "" {
				t.Errorf("choice (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzChoose: whatever the annotation says, what is written is a list of CPUs that are online, or the empty one of best effort.
func FuzzChoose(f *testing.F) {
	f.Add(`{"cpuset":"0-3,8"}`, "LSR")
	f.Add(`{"cpuset":"0-999999999"}`, "LS")
	f.Add(`{"numaNodeResources":[{"node":-1}]}`, "")
	on := node
	on.Online = cpuset.Of(0, 2, 3, 5, 6, 12)
	f.Fuzz(func(t *testing.T, annotation, class string) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{extension.LabelPodQoS: class}, Annotations: status(annotation)}}
		owned := Owners([]*corev1.Pod{pod})[0].CPUs
		if !owned.IsEmpty() {
			t.Errorf("a pod that requests nothing owns %s", owned)
		}
		got := Choose(on, Pod{QoS: extension.QoSClass(class), KubeQOS: corev1.PodQOSBurstable, Annotations: status(annotation), Owned: owned})
		if !got.Write {
			return
		}
		cpus, err := cpuset.Parse(got.CPUs)
		if err != nil || cpus.IsEmpty() != (got.Source == Inherited) || cpus.String() != got.CPUs || !on.Online.ContainsAll(cpus) {
			t.Errorf("%+v: %v", got, err)
		}
	})
}
