package hooks

import (
	"maps"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// longestPending is how long a container may lie between being made and being started. What lies longer is of one that was never
// started, of which nobody tells.
const longestPending = 10 * time.Minute

// Pending is what kubelet told of containers that are made and not yet started. All methods may be called at the same time.
type Pending struct {
	clock clock.PassiveClock

	mu sync.Mutex
	// containers by whatever names them for the runtime.
	containers map[string]pendingContainer
}

type pendingContainer struct {
	// pod is the UID.
	pod  string
	told *Resources
	at   time.Time
}

// NewPending returns a Pending of nothing.
func NewPending(clock clock.PassiveClock) *Pending {
	return &Pending{clock: clock, containers: map[string]pendingContainer{}}
}

// Made remembers a container of a pod.
func (p *Pending) Made(pod, container string, told *Resources) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.containers, func(_ string, c pendingContainer) bool { return p.clock.Since(c.at) > longestPending })
	p.containers[container] = pendingContainer{pod: pod, told: told, at: p.clock.Now()}
}

// Started returns what was told of a container and forgets it; nil when that is not known.
func (p *Pending) Started(container string) *Resources {
	p.mu.Lock()
	defer p.mu.Unlock()
	told := p.containers[container].told
	delete(p.containers, container)
	return told
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
