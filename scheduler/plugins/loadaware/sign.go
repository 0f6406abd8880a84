package loadaware

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/recovery"
)

const (
	// signerName keys the plugin's part of a pod's signature.
	signerName = "koordinator.sh/LoadAwareScheduling"
	// epochLength bounds how stale a NodeMetric may be inside one batch. The scheduler keeps a batch no longer either.
	epochLength = 500 * time.Millisecond
)

// signature is all that the plugin's verdicts and scores depend on besides nodes and their pods.
type signature struct {
	Usage     []int64 `json:"usage"`
	Prod      bool    `json:"prod"`
	DaemonSet bool    `json:"daemonSet"`
	// Epoch changes when NodeMetrics have changed, at most once in epochLength.
	Epoch uint64 `json:"epoch"`
}

// estimated is a pod with its estimate.
type estimated struct {
	pod      *corev1.Pod
	estimate loadaware.Estimate
}

// SignPod lets the scheduler place equal pods in a batch, for as long as NodeMetrics stay the same. Pods are equal when
// the plugin would treat them so on every node: requests, limits, overhead, priority and annotations matter only by
// their estimate. The scheduler runs Filter on the node it takes from a batch, so that a batch never overrules it.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) (fragments []fwk.SignFragment, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Sign, pod, &status)
	estimate := p.Estimate(pod)
	if last := p.signed.Load(); last == nil || last.pod != pod {
		p.signed.Store(&estimated{pod, estimate})
	}
	return []fwk.SignFragment{{Key: signerName, Value: signature{
		Usage: estimate.Usage, Prod: estimate.Prod, DaemonSet: estimate.DaemonSet,
		Epoch: p.epoch.at(p.state.MetricsChanged(), p.now()),
	}}}, nil
}

// epoch turns a counter that may move hundreds of times a second into one that moves at most every epochLength.
type epoch struct {
	mutex   sync.Mutex
	changes uint64
	since   time.Time
}

func (e *epoch) at(changes uint64, now time.Time) uint64 {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if changes != e.changes && now.Sub(e.since) >= epochLength {
		e.changes, e.since = changes, now
	}
	return e.changes
}
