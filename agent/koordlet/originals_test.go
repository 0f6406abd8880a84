package koordlet

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// TestAnAgentThatCannotReadOriginalsMeasuresAndSetsNothing until they can be read: then it goes on from them.
func TestAnAgentThatCannotReadOriginalsMeasuresAndSetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) {
			if err := os.WriteFile(o.originalsFile(), []byte(`{"checksum":1,"data":[{"setting":"cpu.cfs_quota_us","cgroup":"kubepods/besteffort","original":"5"}]}`), 0o600); err != nil {
				t.Fatal(err)
			}
		})
		defer r.stop()
		r.machine.use("batch", 4)
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(30 * time.Second)
		if got := r.quota(); got != "-1" {
			t.Errorf("quota %s, although what it was before cannot be read", got)
		}
		e := newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing)
		answer, err := e.Explain(r.ctx, nodeName, &diagnosticsv1alpha1.AgentQuestion{Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionFeatures}})
		if err != nil || len(answer.Incomplete) != 1 || !strings.HasPrefix(answer.Incomplete[0], string(finding.OriginalsDamaged)+": ") || len(answer.Features) == 0 {
			t.Errorf("explained is %+v, %v, want that originals cannot be read", answer, err)
		}
		if figures := e.nodeMetrics(); *figures.OriginalsKept || figures.Used == nil {
			t.Error("originals are kept, or nothing is measured")
		}
		if _, err := r.enforcement.executor.Restore(r.ctx); err == nil {
			t.Error("everything was given back, although nobody knows what")
		}
		if err := os.Remove(r.options.originalsFile()); err != nil {
			t.Fatal(err)
		}
		r.after(20 * time.Second)
		r.wantQuota(900000)
	})
}
