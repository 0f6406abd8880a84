// Package informertest has clients for tests that let informers run.
package informertest

import (
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// NewClientset is fake.NewClientset, but for its watches. Theirs say nothing of what was deleted between a list and a watch, so that an
// informer keeps it for ever, and they share with the store what was created in between, which informers change. These say so, and hand
// out copies, as those of an API server do.
func NewClientset(objects ...runtime.Object) *fake.Clientset {
	client := fake.NewClientset(objects...)
	gone := &deletions{tracker: client.Tracker()}
	client.PrependReactor("delete", "*", gone.remember)
	client.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		var options metav1.ListOptions
		if asked, ok := action.(clienttesting.WatchActionImpl); ok {
			options = asked.ListOptions
		}
		shared, err := client.Tracker().Watch(action.GetResource(), action.GetNamespace(), options)
		if err != nil {
			return true, nil, err
		}
		return true, newCopies(gone.of(action), shared), nil
	})
	return client
}

// deletions are what was deleted through a client, whose lock guards them: it calls one reactor at a time.
type deletions struct {
	tracker clienttesting.ObjectTracker
	objects []deleted
}

type deleted struct {
	resource        schema.GroupVersionResource
	namespace, name string
	object          runtime.Object
}

// remember is a reactor to deletions that leaves them to others.
func (d *deletions) remember(action clienttesting.Action) (bool, runtime.Object, error) {
	asked, ok := action.(clienttesting.DeleteAction)
	if !ok {
		return false, nil, nil
	}
	object, err := d.tracker.Get(action.GetResource(), action.GetNamespace(), asked.GetName())
	if err == nil {
		d.objects = append(d.objects, deleted{action.GetResource(), action.GetNamespace(), asked.GetName(), object})
	}
	return false, nil, nil
}

// of are the events of all that a new watch may have missed and that is not there again. An informer whose list came after one of them
// does not know the object, and ignores it.
func (d *deletions) of(action clienttesting.Action) (out []watch.Event) {
	for _, gone := range d.objects {
		if gone.resource != action.GetResource() || (action.GetNamespace() != "" && gone.namespace != action.GetNamespace()) {
			continue
		}
		if _, err := d.tracker.Get(gone.resource, gone.namespace, gone.name); apierrors.IsNotFound(err) {
			out = append(out, watch.Event{Type: watch.Deleted, Object: gone.object})
		}
	}
	return out
}

// copies is a watch that says first what another one missed, and whose objects are copies of those of that one. Unlike watch.Filter, it ends when it is stopped, also with an
// event that nobody reads: a goroutine that stays fails a test in simulated time.
type copies struct {
	missed  []watch.Event
	shared  watch.Interface
	result  chan watch.Event
	stopped chan struct{}
	stop    func()
}

func newCopies(missed []watch.Event, shared watch.Interface) *copies {
	c := &copies{missed: missed, shared: shared, result: make(chan watch.Event), stopped: make(chan struct{})}
	c.stop = sync.OnceFunc(func() { close(c.stopped) })
	go c.run()
	return c
}

func (c *copies) run() {
	defer close(c.result)
	for _, event := range c.missed {
		if !c.send(event) {
			return
		}
	}
	for event := range c.shared.ResultChan() {
		if !c.send(event) {
			return
		}
	}
}

// send returns false where the watch was stopped.
func (c *copies) send(event watch.Event) bool {
	event.Object = event.Object.DeepCopyObject()
	select {
	case c.result <- event:
		return true
	case <-c.stopped:
		return false
	}
}

// ResultChan is closed once the watch is stopped.
func (c *copies) ResultChan() <-chan watch.Event { return c.result }

// Stop ends the watch. It may be called more than once.
func (c *copies) Stop() {
	c.stop()
	c.shared.Stop()
}
