package fleet

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// follow puts nodes into the queue whose topology may have changed: the node did, its topology did, or a pod of it that
// owns CPUs came, went or was given others.
func (t *topologies) follow() error {
	named := cache.ResourceEventHandlerFuncs{
		AddFunc: t.due, UpdateFunc: func(_, after any) { t.due(after) }, DeleteFunc: t.due,
	}
	pods := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { t.onPod(nil, object) },
		UpdateFunc: t.onPod,
		DeleteFunc: func(object any) { t.onPod(object, nil) },
	}
	for _, watch := range []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{{t.informers.nodes, named}, {t.informers.topologies, named}, {t.informers.pods, pods}} {
		registration, err := watch.informer.AddEventHandler(watch.handler)
		if err != nil {
			return fmt.Errorf("follow topologies: %w", err)
		}
		t.handling = append(t.handling, registration.HasSynced)
	}
	return nil
}

// due has the node of an object's name looked at.
func (t *topologies) due(object any) {
	if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
		t.queue.Add(name.Name)
	}
}

// onPod has the node of a pod looked at when the CPUs that the pod owns changed. Without a version before or after, the
// pod owned, or owns, none.
func (t *topologies) onPod(before, after any) {
	old, _ := gone[*podRecord](before)
	pod, _ := gone[*podRecord](after)
	if owned := pod.cpus(); !owned.Equal(old.cpus()) || (!owned.IsEmpty() && old.qos != pod.qos) {
		for _, record := range []*podRecord{old, pod} {
			if record != nil {
				t.queue.Add(record.nodeName)
			}
		}
	}
}
