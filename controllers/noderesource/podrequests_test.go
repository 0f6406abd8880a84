package noderesource

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/decision/noderesource/overcommit"
)

func versionOf(version, cpu string) *corev1.Pod {
	pod := testPod().DeepCopy()
	pod.UID, pod.ResourceVersion = "first", version
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	return pod
}

// TestRequestsFollowThePods asks one question after the other, of which each is about what the pods are by then.
func TestRequestsFollowThePods(t *testing.T) {
	other := versionOf("1", "4")
	other.Name = "other"
	replaced := versionOf("2", "8")
	replaced.UID = "second"
	ended := versionOf("3", "8")
	ended.UID, ended.Status.Phase = "second", corev1.PodSucceeded
	first, resized := versionOf("1", "1"), versionOf("2", "2")
	var known podRequests
	for _, question := range []struct {
		name      string
		pods      []any
		wantKnown int
	}{
		{"one pod", []any{first}, 1},
		{"the same", []any{first}, 1},
		{"another one beside it", []any{first, other}, 2},
		{"one was resized", []any{other, resized}, 2},
		{"one is gone", []any{resized}, 1},
		{"a pod of the same name and version took its place", []any{replaced}, 1},
		{"it ended", []any{ended}, 1},
		{"all are gone", nil, 0},
	} {
		want := []overcommit.PodRequests{}
		for _, pod := range question.pods {
			want = append(want, overcommit.RequestsOf(pod.(*corev1.Pod)))
		}
		if diff := cmp.Diff(want, known.of(question.pods)); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", question.name, diff)
		}
		if len(known.known) != question.wantKnown {
			t.Errorf("%s: %d pods are known, want %d", question.name, len(known.known), question.wantKnown)
		}
	}
}

// BenchmarkPodRequests50000 asks again what the pods of a large cluster request.
func BenchmarkPodRequests50000(b *testing.B) {
	pods := make([]any, 50000)
	for i := range pods {
		pod := versionOf("1", "1")
		pod.Name = "pod-" + strconv.Itoa(i)
		pods[i] = pod
	}
	var known podRequests
	known.of(pods)
	for b.Loop() {
		known.of(pods)
	}
}
