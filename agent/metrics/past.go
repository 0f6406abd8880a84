package metrics

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
)

// The past is remembered in PastLength steps, which is half an hour.
const (
	PastStep   = 30 * time.Second
	PastLength = 60
)

// Past is what a machine used, and of it the pods of each priority band: longer ago than the windows of pods reach, in averages over
// steps. The zero value is empty and ready for use; it is not safe for concurrent use.
type Past struct {
	moments []moment
	due     time.Time
}

// Moment is what was used on average over the step that ended at a time.
type Moment struct {
	At time.Time
	// Node is everything, and System what is neither a pod nor an application that is known.
	Node, System Usage
	// Prod, Mid, Batch and Free are the pods and applications of a band; Prod has those of none too.
	Prod, Mid, Batch, Free Usage
}

// moment is Moment in less memory.
type moment struct {
	// at is in nanoseconds of Unix time.
	at                                   int64
	node, system, prod, mid, batch, free Usage
}

// Bands are those of the pods and of the applications by name. Others, such as pods that have ended, are no part of any band.
type Bands struct {
	Pods         map[types.UID]extension.PriorityClass
	Applications map[string]extension.PriorityClass
}

// Observe remembers the step that ends at the latest snapshot, when it is time to. Where the clock was set back, what lies ahead of it
// is forgotten. The bands are asked for then only.
func (p *Past) Observe(n *Node, ask func() Bands) {
	at := n.lastAt
	if p.due.Sub(at) > PastStep+setBack {
		p.forgetFrom(at.UnixNano())
		p.due = at
	}
	if at.IsZero() || at.Before(p.due) {
		return
	}
	p.due = at.Truncate(PastStep).Add(PastStep)
	node, samples := n.node.sum(at, PastStep)
	if samples == 0 {
		return
	}
	system, _ := n.system.sum(at, PastStep)
	m := moment{at: at.UnixNano(), node: node, system: system}
	bands := ask()
	for uid, band := range bands.Pods {
		if s := n.pods[uid]; s != nil {
			used, _ := s.window.sum(at, PastStep)
			m.add(band, used)
		}
	}
	for name, band := range bands.Applications {
		if a := n.applications.named(name); a != nil {
			used, _ := a.window.sum(at, PastStep)
			m.add(band, used)
		}
	}
	for _, part := range []*Usage{&m.node, &m.system, &m.prod, &m.mid, &m.batch, &m.free} {
		// What ran in a part of the step used nothing in the rest of it.
		part.NanoCores, part.Memory = part.NanoCores/samples, part.Memory/samples
	}
	if len(p.moments) == PastLength {
		p.moments = slices.Delete(p.moments, 0, 1)
	}
	p.moments = append(p.moments, m)
}

func (m *moment) add(band extension.PriorityClass, used Usage) {
	part := &m.prod
	switch band {
	case extension.PriorityMid:
		part = &m.mid
	case extension.PriorityBatch:
		part = &m.batch
	case extension.PriorityFree:
		part = &m.free
	}
	*part = part.Plus(used)
}

func (p *Past) forgetFrom(nanos int64) {
	p.moments = slices.DeleteFunc(p.moments, func(m moment) bool { return m.at >= nanos })
}

// Moments are what is remembered, oldest first.
func (p *Past) Moments() []Moment {
	out := make([]Moment, len(p.moments))
	for i, m := range p.moments {
		out[i] = Moment{
			At: time.Unix(0, m.at), Node: m.node, System: m.system, Prod: m.prod, Mid: m.mid, Batch: m.batch, Free: m.free,
		}
	}
	return out
}
