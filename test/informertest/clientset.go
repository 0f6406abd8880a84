// Package informertest has clients for tests that let informers run.
package informertest

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// NewClientset is fake.NewClientset, but for its watches: theirs share with the store what was created between a list and a watch,
// and informers change what they are given. These hand out copies, as an API server does.
func NewClientset(objects ...runtime.Object) *fake.Clientset {
	client := fake.NewClientset(objects...)
	client.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		var options metav1.ListOptions
		if asked, ok := action.(clienttesting.WatchActionImpl); ok {
			options = asked.ListOptions
		}
		shared, err := client.Tracker().Watch(action.GetResource(), action.GetNamespace(), options)
		if err != nil {
			return true, nil, err
		}
		return true, newCopies(shared), nil
	})
	return client
}

// copies is a watch whose objects are copies of those of another one. Unlike watch.Filter, it ends when it is stopped, also with an
// event that nobody reads: a goroutine that stays fails a test in simulated time.
type copies struct {
	shared  watch.Interface
	result  chan watch.Event
	stopped chan struct{}
	stop    func()
}

func newCopies(shared watch.Interface) *copies {
	c := &copies{shared: shared, result: make(chan watch.Event), stopped: make(chan struct{})}
	c.stop = sync.OnceFunc(func() { close(c.stopped) })
	go c.run()
	return c
}

func (c *copies) run() {
	defer close(c.result)
	for event := range c.shared.ResultChan() {
		event.Object = event.Object.DeepCopyObject()
		select {
		case c.result <- event:
		case <-c.stopped:
			return
		}
	}
}

// ResultChan is closed once the watch is stopped.
func (c *copies) ResultChan() <-chan watch.Event { return c.result }

// Stop ends the watch. It may be called more than once.
func (c *copies) Stop() {
	c.stop()
	c.shared.Stop()
}
