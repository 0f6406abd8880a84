package hooks

import (
	"maps"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// longestPending is how long a container may lie between being made and being started. What lies longer is of one that was never
// started, of which no event is sent.
const longestPending = 10 * time.Minute

// Pending is what kubelet requested for containers that are created and not yet started. All methods may be called at the same time.
type Pending struct {
	clock clock.PassiveClock

	mu sync.Mutex
	// containers by whatever names them for the runtime.
	containers map[string]pendingContainer
}

type pendingContainer struct {
	// pod is the UID.
	pod       string
	resources *Resources
	at        time.Time
}

// NewPending returns a Pending of nothing.
func NewPending(clock clock.PassiveClock) *Pending {
	return &Pending{clock: clock, containers: map[string]pendingContainer{}}
}

// Made remembers a container of a pod.
func (p *Pending) Made(pod, container string, reported *Resources) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.containers, func(_ string, c pendingContainer) bool { return p.clock.Since(c.at) > longestPending })
	p.containers[container] = pendingContainer{pod: pod, resources: reported, at: p.clock.Now()}
}

// Started returns what was requested for a container and forgets it; nil when that is not known.
func (p *Pending) Started(container string) *Resources {
	p.mu.Lock()
	defer p.mu.Unlock()
	reported := p.containers[container].resources
	delete(p.containers, container)
	return reported
}

// Forget the containers of a pod.
func (p *Pending) Forget(pod string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.containers, func(_ string, c pendingContainer) bool { return c.pod == pod })
}

// Clear forgets all containers.
func (p *Pending) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.containers)
}
