package recommender

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
)

// known are former runs, or why they cannot be read.
type known struct {
	store *jobinsight.Store
	err   error
}

func (k known) Latest(context.Context) (*jobinsight.Store, error) { return k.store, k.err }

// reports had a peak of 3 GiB each time, and used a core.
func reports(runs int) known {
	store := jobinsight.NewStore(0)
	for i := range runs {
		store.Observe(jobinsight.Run{Kind: jobinsight.Kind{User: "shop", Application: "report"}, Outcome: jobinsight.Completed,
			Ended: noon.Add(time.Duration(i-runs) * time.Hour), Values: jobinsight.Observed(3<<30, 1, time.Hour)})
	}
	return known{store: store}
}

func forCronJob() *analysisv1alpha1.Recommendation {
	out := forDeployment()
	out.Spec.Target.Workload = &analysisv1alpha1.CrossVersionObjectReference{Kind: "CronJob", Name: "report", APIVersion: "batch/v1"}
	return out
}

// reportPod is that of a run of the CronJob.
func reportPod(run int) *corev1.Pod {
	pod := webPod(0)
	pod.Name, pod.UID, pod.Labels = fmt.Sprintf("report-%d-x", run), types.UID(fmt.Sprint("report-", run)), nil
	pod.OwnerReferences[0].Kind, pod.OwnerReferences[0].Name = "Job", fmt.Sprintf("report-%08d", run)
	return pod
}

func (r *rig) knows(runs Runs) *rig {
	r.reconciler.runs = runs
	return r
}

// wantJob wants the recommendation of reports: 3 GiB and more, the fewer runs are known, and not what this run has used so far.
func (r *rig) wantJob(when string) {
	r.t.Helper()
	if cpu, memory := r.target("main"); cpu < 1000 || cpu > 1500 || memory < 3<<10 || memory > 7<<10 {
		r.t.Errorf("%s the target is %dm and %dMi, want a core and 3Gi, and as much more as the runs are few", when, cpu, memory)
	}
}

func TestACronJobIsRecommendedByItsRuns(t *testing.T) {
	r := newRig(t, false, forCronJob(), reportPod(1)).knows(reports(20))
	r.run(5, 0.1, 100, "report-1-x")
	r.wantJob("while it runs")
	if got := r.condition(analysisv1alpha1.RecommendationConditionLowConfidence); got != "False" {
		t.Errorf("LowConfidence is %q after 20 runs", got)
	}
	if err := r.client.Delete(t.Context(), reportPod(1)); err != nil {
		t.Fatal(err)
	}
	r.run(30, 0, 0)
	r.wantJob("between two runs")
	r.restart(false)
	r.knows(known{err: errors.New("timeout")})
	r.run(30, 0, 0)
	r.wantJob("after a restart, while former runs cannot be read,")
}

func TestWhatIsNoJobIsRecommendedByItsUsage(t *testing.T) {
	tests := map[string]struct {
		runs Runs
		pod  *corev1.Pod
	}{
		"few runs are known":         {reports(1), reportPod(1)},
		"former runs cannot be read": {known{err: errors.New("timeout")}, reportPod(1)},
		"nobody learns from jobs":    {nil, reportPod(1)},
		"the pod has a container beside it": {reports(20), func() *corev1.Pod {
			p := reportPod(1)
			p.Spec.Containers = webPod(0, "proxy").Spec.Containers
			return p
		}()},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, false, forCronJob(), test.pod).knows(test.runs)
			r.run(5, 0.1, 1000, "report-1-x")
			if _, memory := r.target("main"); memory == 0 || memory > 1<<11 {
				t.Errorf("the target is %dMi, want what was used", memory)
			}
			if got := r.condition(analysisv1alpha1.RecommendationConditionLowConfidence); got != "True" {
				t.Errorf("LowConfidence is %q after 5 minutes", got)
			}
		})
	}
}

func TestFewRunsAreNotTrusted(t *testing.T) {
	r := newRig(t, false, forCronJob(), reportPod(1)).knows(reports(6))
	r.run(5, 0.1, 100, "report-1-x")
	r.wantJob("after six runs")
	if got := r.condition(analysisv1alpha1.RecommendationConditionLowConfidence); got != "True" {
		t.Errorf("LowConfidence is %q after 6 runs", got)
	}
}
