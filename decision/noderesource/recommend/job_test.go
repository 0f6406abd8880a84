package recommend

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
)

var report = jobinsight.Kind{User: "etl", Application: "report"}

// runs of a kind, whose peaks and means of CPU are spread around 2 GiB and a core.
func runs(kind jobinsight.Kind, n int) *jobinsight.Store {
	store, random := jobinsight.NewStore(0), rand.New(rand.NewPCG(1, 2))
	for i := range n {
		by := math.Exp(0.2 * random.NormFloat64())
		store.Observe(jobinsight.Run{Kind: kind, Outcome: jobinsight.Completed, Ended: noon.Add(time.Duration(i-n) * time.Hour),
			Values: jobinsight.Observed(by*2048*mebi, by, time.Hour)})
	}
	return store
}

func TestJobsAreRecommendedByTheirRuns(t *testing.T) {
	tests := map[string]struct {
		store         *jobinsight.Store
		wantJob       bool
		wantConfident bool
	}{
		"dozens of runs":            {runs(report, 60), true, true},
		"a few":                     {runs(report, 6), true, false},
		"none":                      {jobinsight.NewStore(0), false, false},
		"others of the queue alone": {runs(jobinsight.Kind{User: "other", Queue: "q", Application: "other"}, 60), false, false},
		"another user's runs of it": {runs(jobinsight.Kind{User: "other", Application: "report"}, 60), true, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			kind := report
			kind.Queue = "q"
			job := JobOf(test.store, kind)
			if (job != nil) != test.wantJob {
				t.Fatalf("job %+v, want one: %v", job, test.wantJob)
			}
			if job == nil {
				return
			}
			c := NewContainer()
			c.Job = job
			got := c.Recommend(DefaultOptions(), 1, noon, nil)
			if !near(got.Memory.Lower, 2048*mebi) && (got.Memory.Lower < 1600*mebi || got.Memory.Lower > 2600*mebi) {
				t.Errorf("half of the runs exceed %d MiB, want about 2048", got.Memory.Lower/mebi)
			}
			for resource, b := range map[string]Bounds{"cpu": got.CPU, "memory": got.Memory} {
				if !(b.Lower < b.Target && b.Target < b.Upper) {
					t.Errorf("bounds of %s are %+v, want them apart", resource, b)
				}
			}
			if got.Confident() != test.wantConfident {
				t.Errorf("confident %v after %d runs, want %v", got.Confident(), job.Runs, test.wantConfident)
			}
		})
	}
}

// TestTargetsOfJobsAreExceededAsRarelyAsStated judges the next run again and again.
func TestTargetsOfJobsAreExceededAsRarelyAsStated(t *testing.T) {
	store, random := jobinsight.NewStore(0), rand.New(rand.NewPCG(3, 4))
	const all, warmUp = 3000, 200
	var cpu, memory int
	for i := range all {
		by, byCPU := math.Exp(0.3*random.NormFloat64()), math.Exp(0.3*random.NormFloat64())
		if job := JobOf(store, report); i >= warmUp {
			if byCPU*1000 > float64(job.CPU.Target) {
				cpu++
			}
			if by*1024*mebi > float64(job.Memory.Target) {
				memory++
			}
		}
		store.Observe(jobinsight.Run{Kind: report, Outcome: jobinsight.Completed, Ended: noon.Add(time.Duration(i) * time.Hour), Values: jobinsight.Observed(by*1024*mebi, byCPU, time.Hour)})
	}
	share := func(n int) float64 { return float64(n) / (all - warmUp) }
	if got := share(cpu); got < 0.07 || got > 0.13 {
		t.Errorf("%.1f%% of the runs exceed the target of CPU, want about 10%%", got*100)
	}
	if got := share(memory); got < 0.005 || got > 0.04 {
		t.Errorf("%.1f%% of the runs exceed the target of memory, want about 2%%", got*100)
	}
}

func TestAJobThatRanOutOfMemoryGetsMore(t *testing.T) {
	c := NewContainer()
	c.Job = JobOf(runs(report, 60), report)
	before := c.Recommend(DefaultOptions(), 1, noon, nil)
	c.AddOOM(noon.Add(-time.Hour), 8192*mebi)
	after := c.Recommend(DefaultOptions(), 1, noon, &Trace{})
	if after.Memory.Target < 8192*mebi || after.CPU != before.CPU {
		t.Errorf("%+v after %+v, want more memory", after, before)
	}
}

func TestAJobSurvivesACheckpoint(t *testing.T) {
	c := observed(1, 1, 1000*mebi)
	c.Job = JobOf(runs(report, 60), report)
	checkpoint, err := c.Checkpoint("main")
	if err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Recommend(DefaultOptions(), 1, noon, nil), restored.Recommend(DefaultOptions(), 1, noon, nil)); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
	for name, job := range map[string]analysisv1alpha1.JobCheckpoint{
		"a negative bound":     {Runs: 1, CPU: analysisv1alpha1.JobBounds{Lower: -1}},
		"bounds out of order":  {Runs: 1, Memory: analysisv1alpha1.JobBounds{Lower: 2, Target: 1, Upper: 3}},
		"a negative number of": {Runs: -1},
	} {
		checkpoint.Job = &job
		if _, err := Restore(checkpoint); err == nil {
			t.Errorf("%s runs is no error", name)
		}
	}
}

func TestWhichPodsAreOneJob(t *testing.T) {
	pod := func(job string, containers ...string) *corev1.Pod {
		out := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "etl", OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: job, Controller: new(true)}}}}
		for _, name := range containers {
			out.Spec.Containers = append(out.Spec.Containers, corev1.Container{Name: name})
		}
		return out
	}
	service := pod("report", "main")
	service.OwnerReferences[0].Kind = "ReplicaSet"
	tests := map[string]struct {
		pods []*corev1.Pod
		want bool
	}{
		"two runs of a cron job": {[]*corev1.Pod{pod("report-29384756", "main"), pod("report-29384757", "main")}, true},
		"two jobs":               {[]*corev1.Pod{pod("report-29384756", "main"), pod("other-29384757", "main")}, false},
		"a job and a service":    {[]*corev1.Pod{pod("report", "main"), service}, false},
		"several containers":     {[]*corev1.Pod{pod("report", "main", "proxy")}, false},
		"another container":      {[]*corev1.Pod{pod("report", "main"), pod("report", "work")}, false},
		"no pods":                {nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			kind, container, got := KindOf(test.pods)
			if got != test.want || got && (kind != report || container != "main") {
				t.Errorf("%v %+v %q, want %v", got, kind, container, test.want)
			}
		})
	}
}
