package livecgroup

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/test/eventually"
)

// gatesOfKills are the features that are killed: all that write files of cgroups or processes.
func gatesOfKills(on bool) map[string]bool {
	gates := map[string]bool{}
	for _, name := range []string{
		"BECPUSuppress", "CPUSetAllocator", "GroupIdentity", "BatchResource", "CPUBurst", "CgroupReconcile", "OOMScoreAdj",
	} {
		gates[name] = on
	}
	return gates
}

// wanted are NodeSLOs that differ in all that the features do.
func wanted() []slov1alpha1.NodeSLOSpec {
	suppressed := suppressing(slov1alpha1.CPUCfsQuotaPolicy)
	suppressed.ResourceQOSStrategy = identities()
	suppressed.CPUBurstStrategy = &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstAuto}}
	squeezed := suppressing(slov1alpha1.CPUCfsQuotaPolicy)
	squeezed.ResourceUsedThresholdWithBE.CPUSuppressThresholdPercent = new(int64(20))
	squeezed.ResourceQOSStrategy = protection()
	return []slov1alpha1.NodeSLOSpec{suppressed, squeezed, {}, suppressing(slov1alpha1.CPUSetPolicy)}
}

// everything is what is set of the test's cgroups and processes.
func (r *rig) everything() map[string]string {
	out := maps.Clone(r.dump())
	for uid, process := range r.processes {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", process.PID))
		if err != nil {
			r.t.Fatal(err)
		}
		out["oom_score_adj of "+string(uid)] = strings.TrimSpace(string(content))
	}
	return out
}

// TestAnAgentThatIsKilledLeavesNothing kills the real agent at random moments while what is wanted of the node changes, and has the one
// after it bring the node to what is wanted, and back to what was there before the first.
func TestAnAgentThatIsKilledLeavesNothing(t *testing.T) {
	r := newRig(t)
	scored := r.pods[0].Object.DeepCopy()
	scored.Annotations = map[string]string{extension.AnnotationOOMScoreAdj: "1000"}
	r.pods[0] = state.PodOf(scored)
	before := r.everything()
	c := newCluster(r, gatesOfKills(true))
	specs := wanted()
	c.want(specs[0])
	const kills = 20
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	changed, latest := 0, r.latestKill(c, before)
	for range kills {
		agent := c.start()
		// The moment is what is random here: while it starts, in its first rounds, or later.
		end := time.After(time.Duration(draw.Int64N(int64(latest))))
		for killed := false; !killed; {
			c.want(specs[draw.IntN(len(specs))])
			select {
			case <-end:
				agent.kill()
				killed = true
			case <-time.After(time.Duration(draw.Int64N(int64(300 * time.Millisecond)))):
			}
		}
		if !cmp.Equal(before, r.everything()) {
			changed++
		}
	}
	if changed < kills/4 {
		t.Errorf("only %d of %d agents had done anything when they were killed", changed, kills)
	}
	r.converges(c, specs[0], before)
	agent := c.start()
	eventually.True(t, "another agent enforces", func() bool { return !cmp.Equal(before, r.everything()) })
	agent.kill()
	c.given.Gates = gatesOfKills(false)
	agent = c.start()
	eventually.True(t, "an agent whose features are off gives back what the one that was killed did", func() bool { return cmp.Equal(before, r.everything()) })
	agent.stop()
	if diff := cmp.Diff(before, r.everything()); diff != "" {
		t.Errorf("something is left (-before +after):\n%s", diff)
	}
}

// latestKill is until when after its start an agent is killed: twice the time that one takes until it does something, which is long on
// an emulated machine.
func (r *rig) latestKill(c *cluster, before map[string]string) time.Duration {
	r.t.Helper()
	began := time.Now()
	agent := c.start()
	eventually.True(r.t, "an agent enforces", func() bool { return !cmp.Equal(before, r.everything()) })
	agent.kill()
	return max(1500*time.Millisecond, 2*time.Since(began))
}

// converges has an agent bring the node to what is wanted, and end.
func (r *rig) converges(c *cluster, spec slov1alpha1.NodeSLOSpec, before map[string]string) {
	r.t.Helper()
	c.want(spec)
	// The one that was killed may have left what is wanted already: this is how it shows that the next one is at work.
	r.write(cgroup.CPUIdle, r.path("batch"), "0")
	agent := c.start()
	eventually.True(r.t, "the agent enforces what is wanted", func() bool {
		return r.value(cgroup.CPUIdle, r.path("batch")) == "1" && r.value(cgroup.CPUQuota, r.path("besteffort")) != "-1" &&
			r.value(cgroup.CPUSet, r.path("bound/main")) == "1" && r.value(cgroup.CPUBurst, r.path("service/main")) != "" &&
			r.everything()["oom_score_adj of service"] == "1000"
	})
	agent.stop()
	if diff := cmp.Diff(before, r.everything()); diff != "" {
		r.t.Errorf("something is left (-before +after):\n%s", diff)
	}
}
