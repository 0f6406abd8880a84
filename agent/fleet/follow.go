package fleet

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// follow hooks the agents up to the informers. The handlers it returns have synced once the agents know everything that
// was there in the beginning.
func (f *fleet) follow(logger klog.Logger) (handling []cache.InformerSynced, err error) {
	handlers := map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		f.informers.nodes: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { f.onNode(logger, nil, object) },
			UpdateFunc: func(before, after any) { f.onNode(logger, before, after) },
			DeleteFunc: f.onNodeGone,
		},
		f.informers.pods: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { f.onPod(logger, nil, object) },
			UpdateFunc: func(before, after any) { f.onPod(logger, before, after) },
			DeleteFunc: func(object any) { f.onPodGone(object) },
		},
		f.informers.metrics: cache.ResourceEventHandlerFuncs{
			AddFunc:    f.onMetric,
			UpdateFunc: func(_, after any) { f.onMetric(after) },
			DeleteFunc: f.onMetricGone,
		},
	}
	if err := f.topologies.follow(); err != nil {
		return nil, err
	}
	for informer, handler := range handlers {
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return nil, fmt.Errorf("follow an informer: %w", err)
		}
		handling = append(handling, registration.HasSynced)
	}
	return handling, nil
}

func (f *fleet) onNode(logger klog.Logger, before, after any) {
	node, ok := after.(*nodeRecord)
	if !ok {
		return
	}
	old, _ := before.(*nodeRecord)
	if node.problem != nil && (old == nil || text(old.problem) != text(node.problem)) {
		logger.Error(node.problem, "Ignored an invalid simulation annotation")
	}
	if known := f.agent(node.Name); known != nil {
		known.setNode(node)
		return
	}
	// The store is asked under the lock that onMetric needs: a NodeMetric that is not there yet finds the agent.
	f.mu.Lock()
	defer f.mu.Unlock()
	var metric *metricRecord
	if object, exists, _ := f.informers.metrics.GetStore().GetByKey(node.Name); exists {
		metric, _ = object.(*metricRecord)
	}
	f.agents[node.Name] = newAgent(f.opts, f.informers.pods.GetIndexer(), node, metric)
}

func (f *fleet) onNodeGone(object any) {
	if node, ok := gone[*nodeRecord](object); ok {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.agents, node.Name)
	}
}

func (f *fleet) onPod(logger klog.Logger, before, after any) {
	pod, ok := after.(*podRecord)
	if !ok {
		return
	}
	old, _ := before.(*podRecord)
	if pod.problem != nil && (old == nil || text(old.problem) != text(pod.problem)) {
		logger.Error(pod.problem, "Ignored an invalid simulation annotation")
	}
	f.onPodGone(pod)
}

// onPodGone makes the agent of the pod's node refresh its pods.
func (f *fleet) onPodGone(object any) {
	if pod, ok := gone[*podRecord](object); ok {
		if a := f.agent(pod.nodeName); a != nil {
			a.markPods()
		}
	}
}

func (f *fleet) onMetric(object any) {
	if metric, ok := object.(*metricRecord); ok {
		if a := f.agent(metric.Name); a != nil {
			a.setMetric(metric)
		}
	}
}

func (f *fleet) onMetricGone(object any) {
	if metric, ok := gone[*metricRecord](object); ok {
		if a := f.agent(metric.Name); a != nil {
			a.setMetric(nil)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
