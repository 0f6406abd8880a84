package quotaview

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
)

var startNow = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// learned knows of application short that it takes about 10 minutes, and of long that it takes about an hour; too little to predict others from
// them.
func learned() Jobs {
	store := jobinsight.NewStore(0)
	for application, takes := range map[string]time.Duration{"short": 10 * time.Minute, "long": time.Hour} {
		for i := range 3 {
			scale := 1 + 0.01*float64(i)
			store.Observe(jobinsight.Run{
				Kind:    jobinsight.Kind{User: "teams", Queue: "q", Application: application},
				Outcome: jobinsight.Completed, Ended: startNow.Add(time.Duration(i-60) * time.Hour),
				Values: jobinsight.Observed(1<<30, 1, time.Duration(scale*float64(takes))),
			})
		}
	}
	return Jobs{Store: store, Now: startNow, Confidence: 0.9}
}

// job is a pod of an application, which has run for a while where it has a node.
func job(name, application, node string, cpu int64, ran time.Duration) corev1.Pod {
	out := pod(name, "q", node, cpu)
	out.CreationTimestamp = metav1.NewTime(startNow.Add(-time.Hour - ran))
	if application != "" {
		out.Annotations = map[string]string{extension.AnnotationJobApplication: application}
	}
	if node != "" {
		out.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(startNow.Add(-ran))},
		}}}}
	}
	return out
}

func TestStartOf(t *testing.T) {
	waits := job("waits", "short", "", 4, -30*time.Minute) // half an hour old
	older := job("older", "long", "", 4, 0)
	planned := job("planned", "short", "", 4, 0)
	planned.CreationTimestamp = metav1.Time{}
	within := func(low, high time.Duration) [2]time.Duration { return [2]time.Duration{low, high} }
	tests := map[string]struct {
		pods []corev1.Pod
		pod  corev1.Pod
		// wantPoint bounds the likely start; nil for none.
		wantPoint *[2]time.Duration
		wantEnds  []string
		want      Start
	}{
		"the quota has room": {pods: []corev1.Pod{job("a", "short", "n", 4, 0)}, pod: waits, wantPoint: new(within(0, 0))},
		"the first job to end makes room": {
			pods: []corev1.Pod{job("a", "long", "n", 4, 0), job("b", "short", "n", 4, 4*time.Minute)}, pod: waits,
			wantPoint: new(within(5*time.Minute, 7*time.Minute)), wantEnds: []string{"b"}, want: Start{Quota: "q"},
		},
		"pods before it in the queue get room first": {
			pods: []corev1.Pod{job("a", "long", "n", 4, 0), job("b", "short", "n", 4, 4*time.Minute), older}, pod: waits,
			wantPoint: new(within(55*time.Minute, 65*time.Minute)), wantEnds: []string{"b", "a"}, want: Start{Quota: "q", Before: 1},
		},
		"a pod that does not exist yet comes last": {
			pods: []corev1.Pod{job("a", "long", "n", 4, 0), job("b", "short", "n", 4, 4*time.Minute), waits}, pod: planned,
			wantPoint: new(within(14*time.Minute, 18*time.Minute)), wantEnds: []string{"b", "waits"}, want: Start{Quota: "q", Before: 1},
		},
		"services never end": {
			pods: []corev1.Pod{job("a", "", "n", 8, 0)}, pod: waits, want: Start{Quota: "q", Lasting: 1},
		},
		"jobs of which nothing is known may end at any time": {
			pods: []corev1.Pod{job("a", "new", "n", 8, 0)}, pod: waits, want: Start{Quota: "q", Unknown: 1, Low: new(time.Duration)},
		},
		"what is known suffices beside what is not": {
			pods: []corev1.Pod{job("a", "new", "n", 4, 0), job("b", "short", "n", 4, 4*time.Minute)}, pod: waits,
			wantPoint: new(within(5*time.Minute, 7*time.Minute)), wantEnds: []string{"b"}, want: Start{Quota: "q", Unknown: 1},
		},
		"it never fits": {pod: job("waits", "short", "", 9, 0), want: Start{Quota: "q"}},
	}
	jobs := learned()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pods := test.pods
			if test.pod.Name == "waits" {
				pods = append(pods, test.pod)
			}
			in := inputFor(0, 100, []schedulingsigsv1alpha1.ElasticQuota{object("q", extension.RootQuotaName, 8, 8)}, pods...)
			got := StartOf(in, &test.pod, jobs)
			if got == nil {
				t.Fatal("no answer")
			}
			if (test.wantPoint == nil) != (got.Point == nil) {
				t.Fatalf("likely start %v, want one of %v", got.Point, test.wantPoint)
			}
			if test.wantPoint != nil {
				if point := *got.Point; point < test.wantPoint[0] || point > test.wantPoint[1] {
					t.Errorf("likely start after %s, want %v", point, *test.wantPoint)
				}
				if got.Low == nil || *got.Low > *got.Point || got.High == nil || *got.High < *got.Point {
					t.Errorf("interval %v to %v does not contain %v", got.Low, got.High, *got.Point)
				}
				got.Low, got.Point, got.High = nil, nil, nil
			}
			var ends []string
			for _, end := range got.Ends {
				ends = append(ends, end.Name)
			}
			if diff := cmp.Diff(test.wantEnds, ends); diff != "" {
				t.Errorf("jobs that end before (-want +got):\n%s", diff)
			}
			if (got.Message == "") != (got.Quota == "") {
				t.Errorf("message %q of quota %q", got.Message, got.Quota)
			}
			got.Ends, got.Message = nil, ""
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("start (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManyWaitingPodsAreBounded(t *testing.T) {
	pods := []corev1.Pod{job("a", "short", "n", 8, 0)}
	for i := range mostWaiting + 10 {
		pods = append(pods, job(fmt.Sprint("other-", i), "short", "", 4, time.Hour))
	}
	last := job("last", "short", "", 4, 0)
	in := inputFor(0, 100, []schedulingsigsv1alpha1.ElasticQuota{object("q", extension.RootQuotaName, 8, 8)}, append(pods, last)...)
	got := StartOf(in, &last, learned())
	if got.Omitted != 11 || got.Point == nil || *got.Point < 10*time.Hour {
		t.Errorf("%d pods are left out, and the likely start is after %v", got.Omitted, got.Point)
	}
}

func TestPodsThatNoQuotaHolds(t *testing.T) {
	in := inputFor(0, 100, []schedulingsigsv1alpha1.ElasticQuota{object("q", extension.RootQuotaName, 8, 8)})
	waits := job("waits", "short", "", 4, 0)
	in.Unseen = true
	if got := StartOf(in, &waits, learned()); got != nil {
		t.Errorf("where quotas are missing: %+v", got)
	}
}

// TestIntervalsContainTheLikelyStart, whatever quotas and pods there are, and the answer is the same again.
func TestIntervalsContainTheLikelyStart(t *testing.T) {
	jobs := learned()
	rapid.Check(t, func(t *rapid.T) {
		objects, pods := drawQuotas(t)
		for i := range pods {
			application := rapid.SampledFrom([]string{"", "short", "long"}).Draw(t, "application")
			like := job(pods[i].Name, application, pods[i].Spec.NodeName, 1, time.Duration(rapid.IntRange(0, 90).Draw(t, "ran"))*time.Minute)
			pods[i].Annotations, pods[i].Status, pods[i].CreationTimestamp = like.Annotations, like.Status, like.CreationTimestamp
		}
		planned := job("planned", "short", "", rapid.Int64Range(0, 20).Draw(t, "cpu"), 0)
		planned.Labels[extension.LabelQuotaName] = rapid.SampledFrom(objects).Draw(t, "quota").Name
		in := inputFor(0, rapid.Int64Range(0, 60).Draw(t, "total"), objects, pods...)
		got := StartOf(in, &planned, jobs)
		if got == nil {
			return
		}
		if got.Point != nil && (got.Low == nil || *got.Low > *got.Point || got.High != nil && *got.High < *got.Point) {
			t.Fatalf("interval %v to %v of %v", got.Low, got.High, *got.Point)
		}
		if diff := cmp.Diff(got, StartOf(in, &planned, jobs)); diff != "" {
			t.Fatalf("again (-first +again):\n%s", diff)
		}
	})
}
