package koordlet

import (
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// TestAnAgentThatGetsNoCPUTakesNoneOfItForUse: services that use two of ten cores leave seven of the nine to best effort, and that stays
// so while the agent is kept from reading, and after. Nobody is evicted meanwhile, though what the pods use seems to have grown.
func TestAnAgentThatGetsNoCPUTakesNoneOfItForUse(t *testing.T) {
	for name, starved := range map[string]struct{ before, within time.Duration }{
		"between two readings":               {before: 20 * time.Second},
		"within one":                         {within: 5 * time.Second},
		"within one, for longer than a plan": {within: 40 * time.Second},
		"between two and within":             {before: 3 * time.Second, within: 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, func(o *Options) {
					o.FeatureGates = map[string]bool{string(eviction.CPUEvict): true, string(eviction.BECPUEvict): true}
				})
				defer r.stop()
				r.put("nodeslos", &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: nodeName}, Spec: slov1alpha1.NodeSLOSpec{
					ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{
						Enable: new(true), CPUSuppressThresholdPercent: new(int64(90)), CPUSuppressPolicy: slov1alpha1.CPUCfsQuotaPolicy,
						CPUEvictThresholdPercent: new(int64(70)), EvictEnabledPriorityThreshold: new(int32(9999)),
					},
				}})
				r.machine.use("batch", 3)
				r.machine.use("service", 2)
				r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
				r.after(30*time.Second + 100*time.Millisecond)
				r.wantQuota(700000)
				written := r.enforcement.audit.Last()
				r.machine.starve(starved.before, starved.within)
				for range 60 {
					r.after(time.Second)
					r.wantQuota(700000)
					if plan := r.enforcement.evictor.Plan(); len(plan.Victims) > 0 {
						t.Fatalf("%+v are to go", plan.Victims)
					}
				}
				if entries := r.enforcement.audit.Last() - written; entries > 0 {
					t.Errorf("%d writes while nothing changed: %+v", entries, r.enforcement.audit.After(written, 10))
				}
				if at, _, measured := r.measurement.used(); !measured || time.Since(at) > time.Second {
					t.Errorf("measured %t, the latest reading is %s old", measured, time.Since(at))
				}
				r.machine.use("service", 5) // it goes on
				r.after(2 * time.Second)
				r.wantQuota(400000)
			})
		})
	}
}

// TestNothingIsDecidedByAReadingThatTookTooLong: what was decided last stays that of the reading before.
func TestNothingIsDecidedByAReadingThatTookTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.FeatureGates = map[string]bool{string(eviction.BEMemoryEvict): true} })
		defer r.stop()
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(10*time.Second + 100*time.Millisecond)
		in, _ := r.enforcement.evictor.Input()
		r.machine.starve(0, 3*time.Second)
		r.after(3500 * time.Millisecond)
		if now, _ := r.enforcement.evictor.Input(); !now.Now.Equal(in.Now) {
			t.Errorf("decided at %s, want nothing since %s", now.Now, in.Now)
		}
		r.after(2 * time.Second)
		if now, _ := r.enforcement.evictor.Input(); time.Since(now.Now) > time.Second {
			t.Errorf("decided last %s ago, though the machine can be read again", time.Since(now.Now))
		}
	})
}
