package sandboxtest

import (
	"context"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// Ready reports whether a pod is ready and not being deleted.
func Ready(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}
	return false
}

// CountReady counts the pods that are ready.
func CountReady(pods []corev1.Pod) int {
	count := 0
	for i := range pods {
		if Ready(&pods[i]) {
			count++
		}
	}
	return count
}

// LeastReady watches pods until the end of the test, and returns what says how few were ready at a time so far.
func LeastReady(t testing.TB, client kubernetes.Interface, namespace string, of metav1.ListOptions) func() int {
	t.Helper()
	list, err := client.CoreV1().Pods(namespace).List(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	of.ResourceVersion = list.ResourceVersion
	watcher, err := client.CoreV1().Pods(namespace).Watch(context.WithoutCancel(t.Context()), of)
	if err != nil {
		t.Fatal(err)
	}
	var mutex sync.Mutex
	var watching sync.WaitGroup
	ready, least := map[types.UID]bool{}, CountReady(list.Items)
	for i := range list.Items {
		if Ready(&list.Items[i]) {
			ready[list.Items[i].UID] = true
		}
	}
	watching.Go(func() {
		for event := range watcher.ResultChan() {
			pod, is := event.Object.(*corev1.Pod)
			if !is {
				continue
			}
			mutex.Lock()
			if delete(ready, pod.UID); event.Type != watch.Deleted && Ready(pod) {
				ready[pod.UID] = true
			}
			least = min(least, len(ready))
			mutex.Unlock()
		}
	})
	t.Cleanup(func() {
		watcher.Stop()
		watching.Wait()
	})
	return func() int {
		mutex.Lock()
		defer mutex.Unlock()
		return least
	}
}
