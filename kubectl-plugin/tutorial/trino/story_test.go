package trino

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestWorkersAreSizedToTheOffer(t *testing.T) {
	for offer, want := range map[int64]int64{0: leastCPU, needed: leastCPU, 450: 100, 850: 200, 2050: 500} {
		if got := workerCPU(offer); got != want {
			t.Errorf("a worker requests %d of an offer of %d; want %d", got, offer, want)
		}
		if offer >= needed && coordinatorCPU+mostWorkers*workerCPU(offer) > offer {
			t.Errorf("all workers request more than an offer of %d", offer)
		}
	}
}

func worker(name string, draining bool) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"}}
	if draining {
		pod.Annotations = map[string]string{schedulingv1alpha1.AnnotationWorkerDrain: "{}"}
	}
	return pod
}

func TestTheWorkerThatDrainsIsFound(t *testing.T) {
	tests := map[string]struct {
		workers []corev1.Pod
		want    string
	}{
		"one of two": {[]corev1.Pod{worker("a", false), worker("b", true)}, "b"},
		"none":       {[]corev1.Pod{worker("a", false)}, ""},
		"no workers": {nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod, err := (&story{workers: tc.workers}).draining()
			if (err == nil) != (tc.want != "") || err == nil && pod.Name != tc.want {
				t.Errorf("draining = %v, %v; want %q", pod, err, tc.want)
			}
		})
	}
}

func TestAWorkerMustGoAndTheQueryBeAnswered(t *testing.T) {
	two := []corev1.Pod{worker("a", false), worker("b", false)}
	tests := map[string]struct {
		before   int
		answered ended
		past     []ended
		want     bool
	}{
		"one went, as before":   {3, ended{Answer: "a"}, []ended{{Answer: "a"}, {Answer: "a"}}, true},
		"none went":             {2, ended{Answer: "a"}, []ended{{Answer: "a"}, {Answer: "a"}}, false},
		"the query failed":      {3, ended{Err: errors.New("node is gone")}, []ended{{Answer: "a"}}, false},
		"the query had no rows": {3, ended{}, []ended{{}}, false},
		"the answer is another": {3, ended{Answer: "b"}, []ended{{Answer: "a"}, {Answer: "b"}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &story{answer: "a", before: tc.before, workers: two, drain: drain{answered: tc.answered}, queries: &queries{ended: tc.past}}
			if err := s.gaveWay(t.Context(), nil); (err == nil) != tc.want {
				t.Errorf("gaveWay = %v; want that it gave way: %t", err, tc.want)
			}
		})
	}
}

func TestWhyAWorkerWentIsSaid(t *testing.T) {
	tests := map[string]struct {
		story story
		want  string
	}{
		"by what the node offered": {story{}, ""},
		"on a busy machine": {
			story{limited: true},
			" Other programs changed what they used, so that the node did not offer less in time: the worker was drained because maxReplicas was lowered.",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.story.remark()); diff != "" {
				t.Errorf("remark (-want +got):\n%s", diff)
			}
		})
	}
}
