package qos

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// roomy is a service that may use more memory than it requests.
var roomy = func() *corev1.Pod {
	pod := running("roomy", corev1.PodQOSBurstable, map[string]string{extension.LabelPodQoS: "LS"}, nil, list("memory", "2Gi"))
	pod.Spec.Containers[0].Resources.Requests = list("memory", "1Gi")
	return pod
}()

func memoryStrategy(class slov1alpha1.MemoryQOS) *slov1alpha1.ResourceQOSStrategy {
	return &slov1alpha1.ResourceQOSStrategy{LSClass: &slov1alpha1.ResourceQOS{MemoryQOS: &slov1alpha1.MemoryQOSCfg{Enable: new(true), MemoryQOS: class}}}
}

func TestMemoryOfServicesIsBoundedAndAContainerEndsAsAWhole(t *testing.T) {
	n := newNode(t, cgroup.V2, []Feature{MemoryQoS{}}, roomy)
	n.in.SLO.ResourceQOSStrategy = memoryStrategy(slov1alpha1.MemoryQOS{
		MinLimitPercent: new(int64(50)), LowLimitPercent: new(int64(100)), ThrottlingPercent: new(int64(75)), OomKillGroup: new(int64(1)),
		WmarkRatio: new(int64(95)), PriorityEnable: new(int64(1)), Priority: new(int64(7)), // which this kernel has no files for
	})
	n.round()
	group, pod := "kubepods/burstable", "kubepods/burstable/podroomy"
	want := map[string]string{pod + "/" + id + "/memory.high": "1879048192"} // 1 GiB and 75 % of the other one
	for _, at := range []string{group, pod, pod + "/" + id} {
		want[at+"/memory.min"], want[at+"/memory.low"] = "536870912", "1073741824"
		if at != group {
			want[at+"/memory.oom.group"] = "1"
		}
	}
	want["kubepods/memory.min"], want["kubepods/memory.low"] = "536870912", "1073741824"
	n.wantChanged(want)
	n.wantSteady()
	n.wantRestored(nil)
}

func TestAnolisHasWatermarksAndPrioritiesInBothVersions(t *testing.T) {
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := newNode(t, version, []Feature{MemoryQoS{}}, roomy)
		n.kernel.Anolis()
		n.begin()
		n.in.SLO.ResourceQOSStrategy = memoryStrategy(slov1alpha1.MemoryQOS{
			MinLimitPercent: new(int64(50)), LowLimitPercent: new(int64(100)), ThrottlingPercent: new(int64(75)),
			WmarkRatio: new(int64(95)), WmarkScalePermill: new(int64(20)), WmarkMinAdj: new(int64(-25)),
			PriorityEnable: new(int64(1)), Priority: new(int64(7)), OomKillGroup: new(int64(1)),
		})
		n.round()
		group, pod := "kubepods/burstable", "kubepods/burstable/podroomy"
		want := map[string]string{pod + "/" + id + "/memory.high": "1879048192"}
		for _, at := range []string{group, pod, pod + "/" + id} {
			maps.Copy(want, map[string]string{
				at + "/memory.min": "536870912", at + "/memory.low": "1073741824",
				at + "/memory.use_priority_oom": "1", at + "/memory.priority": "7",
			})
			if at != group {
				maps.Copy(want, map[string]string{at + "/memory.oom.group": "1", at + "/memory.wmark_ratio": "95", at + "/memory.wmark_scale_factor": "20", at + "/memory.wmark_min_adj": "-25"})
			}
		}
		want["kubepods/memory.min"], want["kubepods/memory.low"] = "536870912", "1073741824"
		n.wantChanged(want)
		n.wantSteady()
		n.in.SLO.ResourceQOSStrategy.LSClass.MemoryQOS.ThrottlingPercent = new(int64(0)) // a bound is taken back in words that version 1 knows too
		n.round()
		delete(want, pod+"/"+id+"/memory.high")
		n.wantChanged(want)
		n.in.SLO.ResourceQOSStrategy.LSClass.MemoryQOS.Enable = new(false)
		n.round()
		n.wantChanged(nil)
		n.wantRestored(nil)
	})
}

func TestPageCacheIsBoundedWhereTheKernelCan(t *testing.T) {
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := newNode(t, version, []Feature{MemoryQoS{}}, servicePod)
		n.in.SLO.ResourceQOSStrategy = memoryStrategy(slov1alpha1.MemoryQOS{
			PageCacheEnable: new(int64(1)), PageCacheLimitPercent: new(int64(25)), PageCacheReclaimSync: new(int64(1)),
		})
		n.round()
		n.wantChanged(nil) // this kernel cannot
		n.kernel.Anolis()
		n.begin()
		n.round()
		want := map[string]string{}
		for _, at := range []string{"kubepods/burstable/podservice", "kubepods/burstable/podservice/" + id} {
			want[at+"/memory.pagecache_limit.enable"], want[at+"/memory.pagecache_limit.size"], want[at+"/memory.pagecache_limit.sync"] = "1", "268435456", "1"
		}
		n.wantChanged(want)
		n.wantSteady()
		n.in.SLO.ResourceQOSStrategy.LSClass.MemoryQOS.Enable = new(false)
		n.round()
		n.wantChanged(nil)
		n.wantRestored(nil)
	})
}
