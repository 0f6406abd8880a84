package machine

import (
	"errors"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

// errNoPods is for a machine on which kubelet has made no cgroups.
var errNoPods = errors.New("kubelet has made no cgroups")

// pods reads what the pods and their containers use. Their cgroups are found by listing those of the QoS classes, so that pods are
// measured whether or not they were reported.
type pods struct {
	*cgroups
	classes    [3]class
	bestEffort *group
	known      map[types.UID]*pod
	// order is by UID, so that it stays the same while the pods do.
	order []*pod
	round uint64
}

// class is the cgroup above the pods of a QoS class.
type class struct {
	listing
	above string
}

// pod is the open files of one, and of its containers by ID.
type pod struct {
	uid  types.UID
	path string
	*group
	listing    listing
	containers []*container
	// turn in which what is read slowly is read.
	turn uint64
}

type container struct {
	id string
	*group
	seen bool
}

func newPods(of *cgroups) *pods {
	p := &pods{cgroups: of, known: map[types.UID]*pod{}}
	for i, qos := range []corev1.PodQOSClass{corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
		above := of.layout.QoS(qos)
		p.classes[i] = class{above: above, listing: listing{path: of.layout.Directory(cgroup.CPUUsage, above)}}
	}
	return p
}

// read takes the counters of all pods and containers into a snapshot. What is read slowly has its turn when slowly is set.
func (p *pods) read(into *host.Snapshot, slowly bool) error {
	into.Pods, into.Containers = into.Pods[:0], into.Containers[:0]
	if slowly {
		p.round++
	}
	if err := p.find(into.Time); err != nil {
		return err
	}
	dropped := false
	for _, pod := range p.order {
		mine := slowly && p.round%Turns == pod.turn
		ran, err := p.cgroups.read(pod.group, mine)
		if err != nil {
			p.drop(pod) // it is found again if it is still there
			dropped = true
			continue
		}
		if mine {
			p.readSlow(&pod.slow, into.Time)
		}
		into.Pods = append(into.Pods, host.PodCounter{UID: pod.uid, Counter: pod.last, Details: pod.details()})
		p.readContainers(pod, into, ran, mine)
	}
	if dropped {
		p.order = slices.DeleteFunc(p.order, func(pod *pod) bool { return pod.group == nil })
		for i := range p.classes {
			p.classes[i].again()
		}
	}
	return nil
}

// readContainers appends the counters of the containers of a pod; one whose files cannot be read is found again if it is still
// there. Where nothing ran in the pod, nothing did in its containers.
func (p *pods) readContainers(pod *pod, into *host.Snapshot, ran, slowly bool) {
	p.findContainers(pod, into.Time)
	gone := false
	for _, c := range pod.containers {
		if ran || slowly || !c.known {
			if _, err := p.cgroups.read(c.group, slowly); err != nil {
				c.close()
				c.group, gone = nil, true
				continue
			}
		}
		if slowly {
			p.readSlow(&c.slow, into.Time)
		}
		into.Containers = append(into.Containers, host.ContainerCounter{Pod: pod.uid, ID: c.id, Counter: c.last, Details: c.details()})
	}
	if gone {
		pod.containers = slices.DeleteFunc(pod.containers, func(c *container) bool { return c.group == nil })
		pod.listing.again()
	}
}

// find opens the files of pods that are new, and closes those of pods that went.
func (p *pods) find(now time.Time) error {
	changed, found := false, false
	for i := range p.classes {
		listed, err := p.classes[i].refresh(p.tree, now)
		if err != nil && !files.IsGone(err) {
			return err
		}
		changed, found = changed || listed, found || err == nil
	}
	if !found {
		for _, pod := range p.known {
			p.drop(pod)
		}
		p.order = p.order[:0]
		return errNoPods
	}
	if changed {
		p.match()
	}
	return nil
}

// match makes the pods those whose cgroups are listed.
func (p *pods) match() {
	listed := make(map[types.UID]bool, len(p.known))
	for i := range p.classes {
		for _, name := range p.classes[i].names {
			uid, isPod := p.layout.PodOf(name)
			if !isPod {
				continue
			}
			if !p.see(uid, p.classes[i].above+"/"+name) {
				p.classes[i].again()
			}
			listed[uid] = true
		}
	}
	for uid, pod := range p.known {
		if !listed[uid] {
			p.drop(pod)
		}
	}
	p.order = p.order[:0]
	for _, pod := range p.known {
		p.order = append(p.order, pod)
	}
	slices.SortFunc(p.order, func(a, b *pod) int { return strings.Compare(string(a.uid), string(b.uid)) })
	for i, pod := range p.order {
		pod.turn = uint64(i % Turns)
	}
	if above := &p.classes[len(p.classes)-1]; p.bestEffort == nil && above.known {
		p.bestEffort, _ = p.open(above.above) // it is tried again when pods come or go
	}
}

// see opens the files of a pod that is new, and is false when that failed; it is tried again at the next reading.
func (p *pods) see(uid types.UID, path string) bool {
	known := p.known[uid]
	if known != nil && known.path == path {
		return true
	}
	opened, err := p.open(path)
	if err != nil {
		return false
	}
	if known != nil {
		p.drop(known)
	}
	p.known[uid] = &pod{uid: uid, path: path, group: opened, listing: listing{path: p.layout.Directory(cgroup.CPUUsage, path)}}
	return true
}

// findContainers opens the files of containers that are new, and closes those of containers that went.
func (p *pods) findContainers(pod *pod, now time.Time) {
	changed, err := pod.listing.refresh(p.tree, now)
	if err != nil || !changed {
		return // a pod that went is noticed by its own files
	}
	for _, c := range pod.containers {
		c.seen = false
	}
	for _, name := range pod.listing.names {
		id, isContainer := p.layout.ContainerOf(name)
		if !isContainer {
			continue
		}
		at := slices.IndexFunc(pod.containers, func(c *container) bool { return c.id == id })
		if at < 0 {
			opened, err := p.open(pod.path + "/" + name)
			if err != nil {
				pod.listing.again()
				continue
			}
			pod.containers = append(pod.containers, &container{id: id, group: opened})
			at = len(pod.containers) - 1
		}
		pod.containers[at].seen = true
	}
	pod.containers = slices.DeleteFunc(pod.containers, func(c *container) bool {
		if !c.seen {
			c.close()
		}
		return !c.seen
	})
	slices.SortFunc(pod.containers, func(a, b *container) int { return strings.Compare(a.id, b.id) })
}

// readBestEffort reads the cgroup above all pods of the class; nothing where there is none.
func (p *pods) readBestEffort(into *host.GroupCounter, now time.Time, slowly bool) {
	*into = host.GroupCounter{}
	if p.bestEffort == nil {
		return
	}
	mine := slowly && p.round%Turns == 0
	if _, err := p.cgroups.read(p.bestEffort, mine); err != nil {
		p.bestEffort.close()
		p.bestEffort = nil
		p.classes[len(p.classes)-1].again()
		return
	}
	if mine {
		p.readSlow(&p.bestEffort.slow, now)
	}
	into.Counter, into.Details = p.bestEffort.last, p.bestEffort.details()
}

// details are what was read last beside usage.
func (g *group) details() host.Details {
	return host.Details{Throttling: g.throttling, Pressure: g.slow.pressure, BlockIO: g.slow.blockIO}
}

func (p *pods) drop(pod *pod) {
	pod.close()
	delete(p.known, pod.uid)
}

// close releases the files of a pod and its containers.
func (u *pod) close() {
	u.group.close()
	u.group = nil
	u.listing.forget()
	for _, c := range u.containers {
		c.close()
	}
	u.containers = nil
}

func (p *pods) close() {
	for _, pod := range p.known {
		pod.close()
	}
	for i := range p.classes {
		p.classes[i].forget()
	}
	if p.bestEffort != nil {
		p.bestEffort.close()
	}
}
