package trino

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
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

func TestADrainIsFoundInTheMiddleOfAQuery(t *testing.T) {
	tests := map[string]struct {
		workers []corev1.Pod
		tasks   map[string]int
		want    drain
	}{
		"of a worker with tasks": {
			[]corev1.Pod{worker("a", false), worker("b", true)}, map[string]int{"a": 2, "b": 3},
			drain{worker: "b", address: "10.0.0.1", query: "q1", tasks: 3},
		},
		"of a worker without tasks": {[]corev1.Pod{worker("a", true)}, map[string]int{"b": 3}, drain{}},
		"of none":                   {[]corev1.Pod{worker("a", false)}, map[string]int{"a": 3}, drain{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &story{workers: tc.workers}
			err := s.findDrain("q1", tc.tasks)
			if diff := cmp.Diff(tc.want, s.drain, cmp.AllowUnexported(drain{})); diff != "" || (err == nil) != (tc.want.worker != "") {
				t.Errorf("error %v, drain (-want +got):\n%s", err, diff)
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
			s := &story{Service: service.Service{}, before: tc.before, workers: two, drain: drain{answered: tc.answered}, queries: &queries{ended: tc.past}}
			if err := s.gaveWay(t.Context(), nil); (err == nil) != tc.want {
				t.Errorf("gaveWay = %v; want that it gave way: %t", err, tc.want)
			}
		})
	}
}
