package noderesource

import (
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// podRequests knows what pods request for as long as they are the same objects in the store of an informer, which replaces a pod that changes
// and does not modify it. To look at all of a large cluster takes longer than all else that an overview needs, because hardly anything of them
// is in the caches of the CPU. The zero value is ready.
type podRequests struct {
	mu    sync.Mutex
	known map[*corev1.Pod]*knownRequests
	// asked counts the questions.
	asked uint64
}

// knownRequests are those of one version of a pod.
type knownRequests struct {
	requests overcommit.PodRequests
	// asked is the last question about the pod.
	asked uint64
}

// of returns what each pod among the objects requests.
func (p *podRequests) of(objects []any) []overcommit.PodRequests {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = make(map[*corev1.Pod]*knownRequests, len(objects))
	}
	p.asked++
	requests := make([]overcommit.PodRequests, 0, len(objects))
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			requests = append(requests, p.requestsOf(pod))
		}
	}
	if len(p.known) > len(requests) { // some are of pods that changed or are gone
		maps.DeleteFunc(p.known, func(_ *corev1.Pod, k *knownRequests) bool { return k.asked != p.asked })
	}
	return requests
}

func (p *podRequests) requestsOf(pod *corev1.Pod) overcommit.PodRequests {
	found := p.known[pod]
	if found == nil {
		found = &knownRequests{requests: overcommit.RequestsOf(pod)}
		p.known[pod] = found
	}
	found.asked = p.asked
	return found.requests
}
