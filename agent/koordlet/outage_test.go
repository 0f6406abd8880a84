package koordlet

import (
	"math"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// followed are the resources that an agent follows.
var followed = []string{"nodes", "pods", "nodeslos", "nodemetrics", "noderesourcetopologies"}

func (r *rig) wantQuota(want int) {
	r.Helper()
	if got, err := strconv.Atoi(r.quota()); err != nil || math.Abs(float64(got-want)) > 2000 {
		r.Errorf("quota %d, want %d: %v", got, want, err)
	}
}

// TestTheAPIServerMayBeAwayForAnHour: meanwhile the agent holds best effort back by the NodeSLO that it knew last, and when the API
// server is back it follows within ten seconds, without listing what it knows.
func TestTheAPIServerMayBeAwayForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		defer r.stop()
		r.machine.use("batch", 4)
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(30*time.Second + 100*time.Millisecond)
		r.wantQuota(900000)
		before := map[string]int{}
		for _, resource := range followed {
			before[resource] = r.server.Asked("list", resource)
		}
		r.server.Away(true)
		r.after(30 * time.Minute)
		r.machine.use("service", 5)
		r.after(2 * time.Second)
		r.wantQuota(400000)
		r.put("nodeslos", &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: nodeName}, Spec: slov1alpha1.NodeSLOSpec{
			ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{
				Enable: new(true), CPUSuppressThresholdPercent: new(int64(70)), CPUSuppressPolicy: slov1alpha1.CPUCfsQuotaPolicy,
			},
		}})
		r.after(30 * time.Minute)
		r.wantQuota(400000) // the change has not reached the agent
		attempts := map[string]int{}
		for _, resource := range followed {
			attempts[resource] = r.server.Asked("watch", resource)
			if attempts[resource] < 400 || attempts[resource] > 1000 {
				t.Errorf("%s were asked for %d times within an hour", resource, attempts[resource])
			}
		}
		r.server.Away(false)
		r.after(10 * time.Second)
		r.wantQuota(200000)
		for _, resource := range followed {
			if lists, watches := r.server.Asked("list", resource)-before[resource], r.server.Asked("watch", resource)-attempts[resource]; lists > 0 || watches > 1 {
				t.Errorf("%s were listed %d times and watched %d times after the API server came back, want no list and one watch", resource, lists, watches)
			}
		}
	})
}

// TestAnAgentThatStartsWithoutAnAPIServerWritesNothing before it knows what is wanted.
func TestAnAgentThatStartsWithoutAnAPIServerWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newIdleRig(t, nil)
		defer r.stop()
		r.server.Away(true) // before anybody can ask it
		r.follow()
		r.machine.use("batch", 9)
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(10 * time.Minute)
		if got := r.quota(); got != "-1" {
			t.Errorf("quota %s before anything is known", got)
		}
		r.server.Away(false)
		r.after(20 * time.Second)
		r.wantQuota(900000)
		for _, resource := range followed {
			if lists := r.server.Asked("list", resource); lists > 300 {
				t.Errorf("%s were asked for %d times within ten minutes", resource, lists)
			}
		}
	})
}

// TestReportsComeBackAfterAnHour without a report.
func TestReportsComeBackAfterAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.ReadOnly = true })
		defer r.stop()
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.group.Go(func() { newReporting(r.options, r.clients, r.cluster, r.measurement, r.standing).run(r.ctx) })
		r.after(2 * time.Minute)
		r.server.Away(true)
		r.after(time.Hour)
		r.server.Away(false)
		r.after(2 * lastRetry)
		if age := time.Since(r.metric().UpdateTime.Time); age > 2*lastRetry {
			t.Errorf("the latest report is %s old", age)
		}
		if got := cpus(r.metric().NodeMetric.NodeUsage); got < 0 {
			t.Errorf("%v CPUs are used", got)
		}
	})
}
