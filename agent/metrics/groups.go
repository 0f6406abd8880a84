package metrics

import (
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host"
)

// containers are followed without windows: of a container only the latest is asked for.
type containers struct {
	byID  map[string]*container
	order []*container
}

// container is the measurement of one.
type container struct {
	id  string
	pod types.UID
	track
}

func (c *containers) observe(n *Node, snapshot *host.Snapshot) {
	c.align(snapshot)
	for i := range snapshot.Containers {
		c.order[i].observe(n, snapshot.Containers[i].Counter, &snapshot.Containers[i].Details, snapshot.Time)
	}
}

// align makes order match the snapshot's containers, and forgets those that went.
func (c *containers) align(snapshot *host.Snapshot) {
	same := len(c.order) == len(snapshot.Containers)
	for i := 0; same && i < len(c.order); i++ {
		same = c.order[i].id == snapshot.Containers[i].ID
	}
	if same {
		return
	}
	before := c.byID
	c.byID, c.order = make(map[string]*container, len(snapshot.Containers)), c.order[:0]
	for i := range snapshot.Containers {
		id := snapshot.Containers[i].ID
		found := before[id]
		if found == nil {
			found = &container{id: id, pod: snapshot.Containers[i].Pod}
		}
		c.byID[id] = found
		c.order = append(c.order, found)
	}
}

// applications run outside of Kubernetes. There are few, so they are searched by name.
type applications []*application

type application struct {
	name string
	track
	window *Window
}

func (a applications) named(name string) *application {
	for _, found := range a {
		if found.name == name {
			return found
		}
	}
	return nil
}

// nothing is known of applications beside their usage.
var nothing host.Details

// observe returns what all of them used together.
func (a *applications) observe(n *Node, snapshot *host.Snapshot) Usage {
	var sum Usage
	for i := range snapshot.Applications {
		read := &snapshot.Applications[i]
		found := a.named(read.Name)
		if found == nil {
			found = &application{name: read.Name, window: NewWindow(n.policy.samples(n.policy.Aggregate))}
			// Unlike a pod's, its counters did not begin with it: it may have run for long before it was watched.
			found.last, found.seen = read.CPU, n.lastAt
			*a = append(*a, found)
		}
		usage := found.observe(n, read.Counter, &nothing, snapshot.Time)
		if !n.lastAt.IsZero() {
			found.window.Add(snapshot.Time, usage)
		}
		sum = sum.Plus(usage.bounded())
	}
	kept := (*a)[:0]
	for _, found := range *a {
		if snapshot.Time.Sub(found.seen) <= n.policy.Aggregate {
			kept = append(kept, found)
		}
	}
	clear((*a)[len(kept):])
	*a = kept
	return sum
}
