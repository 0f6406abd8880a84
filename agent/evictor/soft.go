package evictor

import (
	"slices"

	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/decision/nodeqos/softeviction"
)

// softInput is what soft evictions are decided by, after the node took a number of pods because it is short. The pods of the input are in
// the order of the reading.
func softInput(in *eviction.Input, reading Reading, taken int) softeviction.Input {
	out := softeviction.Input{Now: in.Now, Budget: in.Budget, Taken: taken}
	for i, pod := range reading.Pods {
		if read, requested := softeviction.PodOf(pod.Object, &in.Pods[i]); requested {
			out.Pods = append(out.Pods, read)
		}
	}
	return out
}

// SoftRequests are the requests for a soft eviction that were decided last; none while soft evictions are off.
func (e *Evictor) SoftRequests() []softeviction.Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.soft.Requests)
}
