package qos

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/host/cgroup"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// systemNode has the parameters of a plain kernel.
func systemNode(t *testing.T) *node {
	n := newNode(t, cgroup.V2, []Feature{SystemConfig{}})
	n.proc.Number("sys/vm/min_free_kbytes", 67584, 0, 1<<31-1)
	n.proc.Number("sys/vm/watermark_scale_factor", 10, 1, 3000)
	n.sys.Features("kernel/debug/sched/features", "PLACE_LAG NO_NEXT_BUDDY CACHE_HOT_BUDDY")
	n.begin()
	return n
}

func TestParametersOfTheMachine(t *testing.T) {
	n := systemNode(t)
	n.wantSteady()
	n.in.SLO.SystemStrategy = &slov1alpha1.SystemStrategy{
		MinFreeKbytesFactor: new(int64(100)), WatermarkScaleFactor: new(int64(150)), SchedGroupIdentityEnabled: new(int64(1)),
		MemcgReapBackGround: new(int64(1)), SchedFeatures: map[string]bool{"NEXT_BUDDY": true, "PLACE_LAG": false, "ID_ABSOLUTE_EXPEL": true},
	}
	n.round()
	n.wantChanged(map[string]string{
		"/proc/sys/vm/min_free_kbytes": "1048576", "/proc/sys/vm/watermark_scale_factor": "150",
		"/sys/kernel/debug/sched/features": "NO_PLACE_LAG NEXT_BUDDY CACHE_HOT_BUDDY",
	})
	n.wantSteady()
	var audited []string
	for _, entry := range n.log.After(0, 10) {
		audited = append(audited, entry.Object+" "+entry.Old+" "+entry.New)
	}
	slices.Sort(audited)
	want := []string{
		"proc/sys/vm/min_free_kbytes 67584 1048576", "proc/sys/vm/watermark_scale_factor 10 150",
		"sys/kernel/debug/sched/features NO_NEXT_BUDDY NEXT_BUDDY", "sys/kernel/debug/sched/features PLACE_LAG NO_PLACE_LAG",
	}
	if diff := cmp.Diff(want, audited); diff != "" {
		t.Errorf("audited (-want +got):\n%s", diff)
	}
	n.in.SLO.SystemStrategy.WatermarkScaleFactor = nil
	n.in.SLO.SystemStrategy.SchedFeatures = map[string]bool{"NEXT_BUDDY": true}
	n.round()
	n.wantChanged(map[string]string{"/proc/sys/vm/min_free_kbytes": "1048576", "/sys/kernel/debug/sched/features": "PLACE_LAG NEXT_BUDDY CACHE_HOT_BUDDY"})
	n.wantRestored(nil)
}

func TestParametersReturnAfterACrash(t *testing.T) {
	n := systemNode(t)
	n.in.SLO.SystemStrategy = &slov1alpha1.SystemStrategy{MinFreeKbytesFactor: new(int64(100)), SchedFeatures: map[string]bool{"NEXT_BUDDY": true}}
	store := &memory{}
	n.restart(store)
	n.round()
	n.restart(store)
	n.in.SLO.SystemStrategy = nil
	n.round()
	n.wantChanged(nil)
}

func TestAnAnolisKernelHasMore(t *testing.T) {
	n := systemNode(t)
	n.proc.Number("sys/kernel/sched_group_identity_enabled", 0, 0, 1)
	n.proc.Number("sys/kernel/sched_idle_saver_wmark", 0, 0, 1<<62)
	n.sys.Number("kernel/mm/memcg_reaper/reap_background", 0, 0, 1)
	n.sys.Number("kernel/mm/pagecache_limit/enabled", 0, 0, 1)
	n.begin()
	n.in.SLO.SystemStrategy = &slov1alpha1.SystemStrategy{
		SchedGroupIdentityEnabled: new(int64(1)), SchedIdleSaverWmark: new(int64(50)), MemcgReapBackGround: new(int64(1)), PageCacheLimitEnabled: new(int64(1)),
	}
	n.round()
	n.wantChanged(map[string]string{
		"/proc/sys/kernel/sched_group_identity_enabled": "1", "/proc/sys/kernel/sched_idle_saver_wmark": "50",
		"/sys/kernel/mm/memcg_reaper/reap_background": "1", "/sys/kernel/mm/pagecache_limit/enabled": "1",
	})
	n.wantRestored(nil)
}
