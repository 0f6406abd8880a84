package coscheduling

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/eventually"
)

// lateInformer keeps the pods that are there back from the state of the gangs, while the queue of the scheduler has them already.
type lateInformer struct {
	cache.SharedIndexInformer
	mutex   sync.Mutex
	handler cache.ResourceEventHandler
	kept    []*corev1.Pod
	passing bool
}

func (l *lateInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	l.handler = handler
	return l.SharedIndexInformer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			l.mutex.Lock()
			defer l.mutex.Unlock()
			if l.passing {
				handler.OnAdd(object, initial)
				return
			}
			l.kept = append(l.kept, object.(*corev1.Pod))
		},
		UpdateFunc: func(before, after any) {
			l.mutex.Lock()
			defer l.mutex.Unlock()
			if !l.passing {
				l.kept = slices.DeleteFunc(l.kept, func(pod *corev1.Pod) bool { return pod.UID == after.(*corev1.Pod).UID })
				l.kept = append(l.kept, after.(*corev1.Pod))
				return
			}
			handler.OnUpdate(before, after)
		},
		DeleteFunc: handler.OnDelete,
	})
}

// pass has the state see the pods by name, the last one first.
func (l *lateInformer) pass() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	slices.SortFunc(l.kept, func(a, b *corev1.Pod) int { return -compareNames(a, b) })
	for _, pod := range l.kept {
		l.handler.OnAdd(pod, true)
	}
	l.passing = true
}

func compareNames(a, b *corev1.Pod) int {
	switch {
	case a.Name < b.Name:
		return -1
	case a.Name > b.Name:
		return 1
	}
	return 0
}

// TestMembersAreQueuedBeforeTheyAreKnown has a scheduler start whose queue is ahead of the state of the gangs: all members are
// held back, and the gang becomes ready when the state knows of some. Those that it hears of later are not forgotten.
func TestMembersAreQueuedBeforeTheyAreKnown(t *testing.T) {
	tests := map[string]struct {
		mode    extension.GangMode
		members int
		// bound is a member that a scheduler bound with its gang before it was killed.
		bound string
		want  int
	}{
		"a NonStrict gang that is bound in part": {extension.GangModeNonStrict, 3, "a-2", 3},
		"a Strict gang that is bound in part":    {extension.GangModeStrict, 3, "a-2", 3},
		"a gang with a member more than needed":  {extension.GangModeStrict, 4, "", 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 1, 10)
			late := &lateInformer{}
			c.pods = func(informer cache.SharedIndexInformer) cache.SharedIndexInformer {
				late.SharedIndexInformer = informer
				return late
			}
			group := c.group("a", 3)
			group.Annotations = map[string]string{extension.AnnotationGangMode: string(test.mode)}
			c.groups.Add(group)
			for i := range test.members {
				c.createPod(t, fmt.Sprintf("a-%d", i), "a")
			}
			pending := test.members
			if test.bound != "" {
				target := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: test.bound}, Target: corev1.ObjectReference{Name: "n0"}}
				target.Annotations = map[string]string{extension.AnnotationBindGangGroupID: "default/a"}
				if err := c.bind(target); err != nil {
					t.Fatal(err)
				}
				pending--
			}
			c.start(t)
			eventually.True(t, "the PodGroup is known", func() bool { return c.state.Spec(keyIn("a")) != nil })
			eventually.True(t, "the queue holds the members back", func() bool { return len(c.scheduler.SchedulingQueue.UnschedulablePods()) == pending })
			late.pass()
			eventually.True(t, "they run", func() bool { return c.bound(t)["a"] == test.want })
		})
	}
}
