package livecgroup

import (
	"path"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
)

// set is a value that a cgroup has, as version 1 writes it.
type set struct {
	setting cgroup.Setting
	// in names a cgroup: "besteffort", "kubepods", a pod, or a pod and "main" for its container.
	in, value string
}

func (r *rig) path(in string) string {
	layout := r.Layout()
	switch in {
	case "kubepods":
		return layout.Kubepods()
	case "besteffort":
		return layout.QoS(corev1.PodQOSBestEffort)
	}
	name, container := path.Split(in)
	if container == "main" {
		return r.path(path.Clean(name)) + "/" + id
	}
	for _, pod := range r.pods {
		if string(pod.UID) == in {
			return layout.Pod(pod.Class(), pod.UID)
		}
	}
	r.t.Fatalf("there is no pod %q", in)
	return ""
}

func identities() *slov1alpha1.ResourceQOSStrategy {
	identity := func(value int64) *slov1alpha1.CPUQOSCfg {
		return &slov1alpha1.CPUQOSCfg{Enable: new(true), CPUQOS: slov1alpha1.CPUQOS{GroupIdentity: &value}}
	}
	return &slov1alpha1.ResourceQOSStrategy{LSClass: &slov1alpha1.ResourceQOS{CPUQOS: identity(2)}, BEClass: &slov1alpha1.ResourceQOS{CPUQOS: identity(-1)}}
}

func protection() *slov1alpha1.ResourceQOSStrategy {
	return &slov1alpha1.ResourceQOSStrategy{LSClass: &slov1alpha1.ResourceQOS{MemoryQOS: &slov1alpha1.MemoryQOSCfg{
		Enable: new(true), MemoryQOS: slov1alpha1.MemoryQOS{
			MinLimitPercent: new(int64(50)), LowLimitPercent: new(int64(100)), ThrottlingPercent: new(int64(80)), OomKillGroup: new(int64(1)),
		},
	}}}
}

// TestWhatFeaturesSetIsTakenAndGivenBack on the kernel that runs.
func TestWhatFeaturesSetIsTakenAndGivenBack(t *testing.T) {
	tests := []struct {
		name     string
		features []qos.Feature
		slo      slov1alpha1.NodeSLOSpec
		// only is the version that has it, zero for both.
		only cgroup.Version
		want []set
	}{
		{
			name: "batch pods get what kubelet does not know", features: []qos.Feature{qos.BatchResource{}},
			want: []set{
				{cgroup.CPUQuota, "batch", "50000"}, {cgroup.CPUQuota, "batch/main", "50000"},
				{cgroup.MemoryLimit, "batch", "268435456"}, {cgroup.MemoryLimit, "batch/main", "268435456"},
			},
		},
		{
			name: "best-effort pods are idle", features: []qos.Feature{qos.GroupIdentity{}, qos.BatchResource{}},
			slo: slov1alpha1.NodeSLOSpec{ResourceQOSStrategy: identities()},
			want: []set{
				{cgroup.CPUIdle, "batch", "1"}, {cgroup.CPUShares, "batch", cgroup.IdleShares}, {cgroup.CPUQuota, "batch", "50000"},
				{cgroup.CPUIdle, "service", "0"},
			},
		},
		{
			name: "a pod with CPUs of its own", features: []qos.Feature{qos.CPUSetAllocator{}},
			want: []set{{cgroup.CPUSet, "bound/main", "1"}, {cgroup.CPUQuota, "bound", "-1"}},
		},
		{
			name: "services may save up CPU time", features: []qos.Feature{qos.NewCPUBurst()},
			slo: slov1alpha1.NodeSLOSpec{CPUBurstStrategy: &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: slov1alpha1.CPUBurstConfig{
				Policy: slov1alpha1.CPUBurstOnly, CPUBurstPercent: new(int64(50)),
			}}},
			want: []set{{cgroup.CPUBurst, "service/main", "50000"}},
		},
		{
			name: "memory of services is protected and bounded, and a container ends as a whole", only: cgroup.V2, features: []qos.Feature{qos.MemoryQoS{}},
			slo: slov1alpha1.NodeSLOSpec{ResourceQOSStrategy: protection()},
			want: []set{
				{cgroup.MemoryMin, "service", strconv.Itoa(32 << 20)}, {cgroup.MemoryMin, "service/main", strconv.Itoa(32 << 20)},
				{cgroup.MemoryLow, "service/main", strconv.Itoa(64 << 20)}, {cgroup.MemoryMin, "kubepods", strconv.Itoa(32 << 20)},
				{cgroup.MemoryHigh, "service/main", "120795136"}, // 64 MiB and 80 % of the other 64, down to a page
				{cgroup.MemoryHigh, "service", "-1"}, {cgroup.MemoryHigh, "batch/main", "-1"},
				{cgroup.OOMGroup, "service", "1"}, {cgroup.OOMGroup, "service/main", "1"}, {cgroup.OOMGroup, "batch/main", "0"},
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, test.features...)
			if test.only != 0 && r.Version != test.only {
				t.Skipf("version %d of cgroups has no such thing", r.Version)
			}
			r.slo = test.slo
			before := r.dump()
			for range 2 { // the second round finds everything done
				r.round()
			}
			for _, want := range test.want {
				if value := r.value(want.setting, r.path(want.in)); value != want.value {
					t.Errorf("%s of %s is %s, want %s", want.setting.Name, want.in, value, want.value)
				}
			}
			r.restore(before)
		})
	}
}

func suppressing(policy slov1alpha1.CPUSuppressPolicy) slov1alpha1.NodeSLOSpec {
	return slov1alpha1.NodeSLOSpec{ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{Enable: new(true), CPUSuppressPolicy: policy}}
}

// TestBestEffortPodsLoseCPUsAndGetThemBack looks at what the processes themselves may run on.
func TestBestEffortPodsLoseCPUsAndGetThemBack(t *testing.T) {
	feature := &qos.Suppression{}
	r := newRig(t, feature)
	if r.CPUs.Len() < 4 {
		t.Skip("best-effort pods keep two CPUs, and there are no more than that to take from")
	}
	before := r.dump()
	r.slo = suppressing(slov1alpha1.CPUSetPolicy)
	r.used[service], r.usedNode = 3000, 3000
	r.round()
	want := feature.Decision().CPUs.List
	allowed := r.processes[batch].AllowedCPUs()
	if cpus, err := cpuset.Parse(allowed); err != nil || allowed != want || cpus.Len() >= r.CPUs.Len() {
		t.Errorf("the best-effort pod runs on CPUs %s, want %s", allowed, want)
	}
	if allowed := r.processes[service].AllowedCPUs(); allowed != r.CPUs.String() {
		t.Errorf("the service runs on CPUs %s, want all", allowed)
	}
	r.slo = slov1alpha1.NodeSLOSpec{}
	r.round()
	if allowed := r.processes[batch].AllowedCPUs(); allowed != r.CPUs.String() {
		t.Errorf("the best-effort pod runs on CPUs %s when nothing holds it back", allowed)
	}
	r.restore(before)
}

func TestBestEffortPodsAreHeldBackByAQuota(t *testing.T) {
	r := newRig(t, &qos.Suppression{})
	before := r.dump()
	r.slo = suppressing(slov1alpha1.CPUCfsQuotaPolicy)
	r.used[service], r.usedNode = 500, 500
	r.round()
	want := strconv.Itoa((r.CPUs.Len()*650 - 500) * 100)
	if quota := r.value(cgroup.CPUQuota, r.path("besteffort")); quota != want {
		t.Errorf("the quota of best-effort pods is %s, want %s", quota, want)
	}
	r.restore(before)
}
