package coscheduling

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"koordinator.sh/koord/test/eventually"
)

// TestAPodThatComesBackWhileTheNextIsTakenIsNotLost has a rejected member come back while Pop waits for the next pod. Without Queue, the queue drops it
// once in some ten thousand times.
func TestAPodThatComesBackWhileTheNextIsTakenIsNotLost(t *testing.T) {
	metrics.Register()
	less := func(a, b fwk.QueuedPodInfo) bool { return a.GetTimestamp().Before(b.GetTimestamp()) }
	q := &Queue{SchedulingQueue: internalqueue.NewTestQueue(t.Context(), less)}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", UID: "a"}}
	logger := klog.Background()
	popped := make(chan *framework.QueuedPodInfo)
	go func() {
		defer close(popped)
		for {
			info, err := q.Pop(logger)
			if err != nil || info == nil {
				return
			}
			popped <- info
		}
	}()
	q.Add(t.Context(), pod)
	for round := range 100000 {
		select {
		case info := <-popped:
			info.UnschedulablePlugins = sets.New("x")
			q.Activate(logger, map[string]*corev1.Pod{"default/a": pod})
			if err := q.AddUnschedulableIfNotPresent(logger, info, 0); err != nil {
				t.Fatal(err)
			}
		case <-time.After(eventually.Timeout):
			t.Fatalf("the pod is lost in round %d", round)
		}
	}
	q.Close()
	for range popped {
	}
}

// popsInBetween is a queue whose Pop takes a pod that is put back before the queue notes that the attempt before is over.
type popsInBetween struct {
	internalqueue.SchedulingQueue
	added int
}

func (q *popsInBetween) AddUnschedulableIfNotPresent(logger klog.Logger, pod *framework.QueuedPodInfo, cycle int64) error {
	if q.added++; q.added > 1 {
		return nil
	}
	if err := q.SchedulingQueue.AddUnschedulableIfNotPresent(logger, pod, cycle); err != nil {
		return err
	}
	if _, err := q.Pop(logger); err != nil {
		return err
	}
	q.Done(pod.Pod.UID)
	return nil
}

// TestAPodThatIsTriedAgainIsNotPutBackTwice has the end of an attempt come when the pod's next has begun, after which the queue holds no trace of the pod.
func TestAPodThatIsTriedAgainIsNotPutBackTwice(t *testing.T) {
	metrics.Register()
	less := func(a, b fwk.QueuedPodInfo) bool { return a.GetTimestamp().Before(b.GetTimestamp()) }
	q := &popsInBetween{SchedulingQueue: internalqueue.NewTestQueue(t.Context(), less)}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", UID: "a"}}
	q.Add(t.Context(), pod)
	logger := klog.Background()
	info, err := q.Pop(logger)
	if err != nil {
		t.Fatal(err)
	}
	info.UnschedulablePlugins = sets.New("x")
	q.Done("a")
	if err := new(putBacks).do(logger, q, info, 0); err != nil {
		t.Fatal(err)
	}
	if q.added != 1 {
		t.Errorf("the pod was put back %d times, want once", q.added)
	}
}
