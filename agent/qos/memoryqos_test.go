package qos

import (
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestPageCacheIsBoundedWhereTheKernelCan(t *testing.T) {
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := newNode(t, version, []Feature{MemoryQoS{}}, servicePod)
		n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{LSClass: &slov1alpha1.ResourceQOS{MemoryQOS: &slov1alpha1.MemoryQOSCfg{
			Enable: new(true), MemoryQOS: slov1alpha1.MemoryQOS{PageCacheEnable: new(int64(1)), PageCacheLimitPercent: new(int64(25)), PageCacheReclaimSync: new(int64(1))},
		}}}
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
