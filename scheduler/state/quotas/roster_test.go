package quotas

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"koordinator.sh/koord/decision/scheduling/quota"
)

// TestForksOfARosterAreIndependent changes a roster and forks of it at random, and holds each against a plain copy.
func TestForksOfARosterAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rosters, wanted := []roster{newRoster()}, []map[types.UID]int{{}}
		for step := range rapid.IntRange(1, 300).Draw(t, "steps") {
			i := rapid.IntRange(0, len(rosters)-1).Draw(t, "roster")
			uid := types.UID(fmt.Sprint(rapid.IntRange(0, 120).Draw(t, "pod")))
			switch rapid.SampledFrom([]string{"set", "set", "set", "remove", "fork"}).Draw(t, "what") {
			case "set":
				rosters[i].set(uid, numbered(uid, step))
				wanted[i][uid] = step
			case "remove":
				rosters[i].set(uid, nil)
				delete(wanted[i], uid)
			case "fork":
				rosters, wanted = append(rosters, rosters[i].fork()), append(wanted, maps.Clone(wanted[i]))
			}
		}
		for i := range rosters {
			expectRoster(t, &rosters[i], wanted[i])
		}
	})
}

// numbered is a pod whose generation says in which step it was set.
func numbered(uid types.UID, step int) *holding {
	return &holding{pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, Generation: int64(step)}}}
}

func expectRoster(t *rapid.T, r *roster, want map[types.UID]int) {
	listed, found := map[types.UID]int{}, map[types.UID]int{}
	for pod := range r.all {
		listed[pod.pod.UID] = int(pod.pod.Generation)
	}
	for i := range 121 {
		if pod := r.get(types.UID(fmt.Sprint(i))); pod != nil {
			found[pod.pod.UID] = int(pod.pod.Generation)
		}
	}
	for what, got := range map[string]map[types.UID]int{"listed": listed, "found": found} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// BenchmarkFork supposes that a pod is gone, as each trial of an eviction does.
func BenchmarkFork(b *testing.B) {
	view := &View{book: newBook(quota.Options{})}
	for i := range 100000 {
		uid := types.UID(fmt.Sprint(i))
		view.book.pods.set(uid, &holding{pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}}, quota: "koordinator-default-quota"})
	}
	b.ReportAllocs()
	for b.Loop() {
		view.Fork().SupposeGone("1")
	}
}
