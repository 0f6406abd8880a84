package informertest

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWatchesHandOutCopies(t *testing.T) {
	client := NewClientset()
	if err := client.Tracker().Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", Labels: map[string]string{"a": "b"}}}); err != nil {
		t.Fatal(err)
	}
	watched, err := client.CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()
	(<-watched.ResultChan()).Object.(*corev1.Pod).Labels["a"] = "changed"
	kept, err := client.CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if kept.Labels["a"] != "b" {
		t.Errorf("the store has the label %q, want %q: it shares its pods with those who watch", kept.Labels["a"], "b")
	}
}

// TestAStoppedWatchLeavesNoGoroutine stops a watch with an event that nobody has read; synctest fails if its goroutine stays.
func TestAStoppedWatchLeavesNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := NewClientset()
		watched, err := client.CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Tracker().Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		watched.Stop()
		watched.Stop()
	})
}
