package informertest

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
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

// TestWatchesSayWhatWasDeletedBeforeThem lists, deletes and creates, and watches from the list on, as an informer does that is interrupted.
func TestWatchesSayWhatWasDeletedBeforeThem(t *testing.T) {
	ctx := t.Context()
	pod := func(namespace, name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	client := NewClientset(pod("default", "gone"), pod("default", "replaced"), pod("default", "kept"), pod("other", "gone"))
	listed, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*corev1.Pod{pod("default", "gone"), pod("default", "replaced"), pod("other", "gone")} {
		if err := client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.CoreV1().Pods("default").Create(ctx, pod("default", "replaced"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string][]string{
		"default": {"DELETED default/gone", "ADDED default/replaced"},
		"":        {"DELETED default/gone", "DELETED other/gone", "ADDED default/replaced"},
	} {
		watched, err := client.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: listed.ResourceVersion})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range want {
			event := <-watched.ResultChan()
			got = append(got, string(event.Type)+" "+event.Object.(*corev1.Pod).Namespace+"/"+event.Object.(*corev1.Pod).Name)
		}
		watched.Stop()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events of namespace %q (-want +got):\n%s", namespace, diff)
		}
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
