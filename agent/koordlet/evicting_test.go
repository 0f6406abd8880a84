package koordlet

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// TestEvictionsKnowWhatSuppressionLeaves to best-effort pods: a pod that gets a quarter of its request is evicted, and none is while
// services leave enough.
func TestEvictionsKnowWhatSuppressionLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.FeatureGates = map[string]bool{string(eviction.BECPUEvict): true} })
		defer r.stop()
		batch := r.pod("batch", extension.QoSBE, corev1.PodQOSBestEffort)
		batch.Spec.Containers[0].Resources.Requests = corev1.ResourceList{extension.BatchCPU: resource.MustParse("4000")}
		r.put("pods", batch)
		r.put("nodeslos", &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: nodeName}, Spec: slov1alpha1.NodeSLOSpec{
			ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{
				Enable: new(true), CPUSuppressThresholdPercent: new(int64(90)), CPUSuppressPolicy: slov1alpha1.CPUCfsQuotaPolicy,
				CPUEvictBESatisfactionLowerPercent: new(int64(50)), CPUEvictBESatisfactionUpperPercent: new(int64(60)), CPUEvictTimeWindowSeconds: new(int64(30)),
			},
		}})
		r.machine.use("batch", 1)
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(time.Minute)
		if in, decided := r.enforcement.evictor.Input(); !decided || in.BestEffort == nil || in.BestEffort.Current.Limit != 9000 {
			t.Errorf("decided %t by %+v, want a limit of nine cores", decided, in.BestEffort)
		}
		if plan := r.enforcement.evictor.Plan(); len(plan.Victims) > 0 {
			t.Errorf("%+v are to go while services leave nine cores", plan.Victims)
		}
		r.machine.use("service", 8)
		r.after(40 * time.Second)
		plan := r.enforcement.evictor.Plan()
		if len(plan.Victims) != 1 || plan.Victims[0].Pod.Name != "batch" || plan.Victims[0].Feature != eviction.BECPUEvict {
			t.Errorf("victims %+v of %+v", plan.Victims, plan.Outcomes)
		}
		if in, _ := r.enforcement.evictor.Input(); in.BestEffort.Current.Limit < 980 || in.BestEffort.Current.Limit > 1020 {
			t.Errorf("best effort %+v, want a limit of one core", in.BestEffort.Current)
		}
	})
}
