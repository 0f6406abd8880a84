package livecgroup

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/agent/host/blockdevice"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/oomscore"
)

// act is one round with a snapshot that a test changes.
func (r *rig) act(change func(*qos.NodeSnapshot)) {
	r.t.Helper()
	snapshot := r.snapshot()
	change(&snapshot)
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

// TestTheQuotaOfAServiceGrowsAndReturns grows the quota of a pod and of its container, in the one order that version 1 takes, with
// time that may be saved up, which may never be more than the quota.
func TestTheQuotaOfAServiceGrowsAndReturns(t *testing.T) {
	r := newRig(t, qos.NewCPUBurst())
	container := r.path("service/main")
	r.write(cgroup.CPUQuota, container, "100000")
	before := r.dump()
	r.slo = slov1alpha1.NodeSLOSpec{CPUBurstStrategy: &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstAuto}}}
	now, throttled := time.Now(), true
	round := func(used int64) {
		now = now.Add(time.Minute)
		r.usedNode = used
		r.act(func(in *qos.NodeSnapshot) {
			in.Now = now
			in.ContainerThrottled = func(of string) (metrics.Throttling, bool) {
				return metrics.Throttling{Ratio: 0.5, Periods: 10}, throttled
			}
		})
	}
	for _, want := range []string{"120000", "144000", "172800"} {
		round(100)
		for _, at := range []string{r.path("service"), container} {
			if quota := r.value(cgroup.CPUQuota, at); quota != want {
				t.Errorf("the quota of %s is %s, want %s", at, quota, want)
			}
			if saved := r.value(cgroup.CPUBurst, at); saved != "100000" {
				t.Errorf("%s may save up %s us, want its limit", at, saved)
			}
		}
	}
	throttled = false
	for range 4 {
		round(int64(r.CPUs.Len()) * 1000)
	}
	if quota := r.value(cgroup.CPUQuota, container); quota != "100000" {
		t.Errorf("the quota of the container is %s when the shared CPUs are overloaded, want its limit", quota)
	}
	r.restore(before)
}

func TestBestEffortPodsAreBoundedOnADisk(t *testing.T) {
	feature := &qos.BlkIOReconcile{}
	r := newRig(t, feature)
	devices, err := blockdevice.Find(r.proc, r.sys)
	if err != nil || len(devices.Names) == 0 {
		t.Skipf("no block device: %v", err)
	}
	var names []string
	for name := range devices.Names {
		names = append(names, name)
	}
	slices.Sort(names)
	disk := names[0]
	if at := slices.IndexFunc(names, func(name string) bool {
		return strings.HasPrefix(name, "/dev/vd") || strings.HasPrefix(name, "/dev/sd")
	}); at >= 0 {
		disk = names[at]
	}
	setting := cgroup.IOReadBPS.On(devices.Names[disk])
	if !r.Layout().Supports(r.Tree, setting, r.path("besteffort")) {
		t.Skip("the kernel bounds no block devices")
	}
	before := r.dump()
	r.slo = slov1alpha1.NodeSLOSpec{ResourceQOSStrategy: &slov1alpha1.ResourceQOSStrategy{BEClass: &slov1alpha1.ResourceQOS{BlkIOQOS: &slov1alpha1.BlkIOQOSCfg{
		Enable: new(true), BlkIOQOS: slov1alpha1.BlkIOQOS{Blocks: []*slov1alpha1.BlockCfg{
			{Name: disk, BlockType: slov1alpha1.BlockTypeDevice, IOCfg: slov1alpha1.IOCfg{ReadBPS: new(int64(1 << 20)), WriteIOPS: new(int64(500))}},
		}},
	}}}}
	for range 2 {
		r.round()
	}
	bounded := []string{r.path("besteffort")}
	if r.Version == cgroup.V1 {
		bounded = append(bounded, r.path("batch"), r.path("batch/main"))
	}
	for _, at := range bounded {
		for _, want := range []set{{setting, at, "1048576"}, {cgroup.IOWriteIOPS.On(devices.Names[disk]), at, "500"}} {
			if value := r.value(want.setting, want.in); value != want.value {
				t.Errorf("%s of %s is %s, want %s", want.setting.Key(), at, value, want.value)
			}
		}
	}
	if value := r.value(setting, r.path("service/main")); value != "0" {
		t.Errorf("the service may read %s bytes per second, want no bound", value)
	}
	r.restore(before)
}

// TestTheScoreOfAProcess raises a score only: to lower one takes a capability that a machine may not give.
func TestTheScoreOfAProcess(t *testing.T) {
	r := newRig(t, &qos.OOMScoreAdj{})
	score := func(of *Process) string {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", of.PID))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(content))
	}
	before := score(r.processes[service])
	r.round()
	annotated := r.pods[0].Object.DeepCopy()
	annotated.Annotations = map[string]string{extension.AnnotationOOMScoreAdj: strconv.Itoa(oomscore.BestEffort)}
	r.pods[0] = state.PodOf(annotated)
	r.round()
	if got := score(r.processes[service]); got != "1000" {
		t.Errorf("the score of the service is %s, want 1000", got)
	}
	if got := score(r.processes[batch]); got != before {
		t.Errorf("the score of another pod is %s, want %s", got, before)
	}
	if outcome, err := r.executor.Restore(t.Context()); err != nil || outcome.Err() != nil {
		t.Error(err, outcome.Err())
	}
	if got := score(r.processes[service]); got != before {
		t.Errorf("the score is %s when all was given back, want %s", got, before)
	}
}

// TestAParameterOfTheMachine changes the least of all parameters, for a moment.
func TestAParameterOfTheMachine(t *testing.T) {
	const file = "sys/vm/watermark_scale_factor"
	r := newRig(t, qos.SystemConfig{})
	number := func() int64 {
		content, err := r.proc.Read(file, nil)
		if err != nil {
			t.Skip(err)
		}
		value, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	before := number()
	if err := r.proc.Write(file, strconv.FormatInt(before, 10)); err != nil {
		t.Skip(err)
	}
	r.slo = slov1alpha1.NodeSLOSpec{SystemStrategy: &slov1alpha1.SystemStrategy{WatermarkScaleFactor: new(before + 1), SchedGroupIdentityEnabled: new(int64(1))}}
	for range 2 {
		r.round()
	}
	if got := number(); got != before+1 {
		t.Errorf("the watermarks are at %d, want %d", got, before+1)
	}
	if outcome, err := r.executor.Restore(t.Context()); err != nil || outcome.Err() != nil {
		t.Error(err, outcome.Err())
	}
	if got := number(); got != before {
		t.Errorf("the watermarks are at %d when all was given back, want %d", got, before)
	}
}
