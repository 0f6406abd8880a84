package qos

import (
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/state"
)

// relist is how often the cgroups in one are listed while all that are looked for are known.
const relist = 10 * time.Second

// Containers finds the cgroups of containers, whose names depend on the runtime. One goroutine at a time may use it.
type Containers struct {
	tree   files.FS
	layout cgroup.Layout
	pods   map[string]*listing
	// expected are containers that are about to be made, of the one pod that there is. Where pods is nil they are all there are.
	expected []Container
}

// listing is the containers in the cgroup of a pod, by ID.
type listing struct {
	at    time.Time
	paths map[string]string
	used  time.Time
}

// NewContainers returns a Containers that knows none.
func NewContainers(tree files.FS, layout cgroup.Layout) *Containers {
	return &Containers{tree: tree, layout: layout, pods: map[string]*listing{}}
}

// Container is one that runs.
type Container struct {
	// Name of the container in its pod, and ID without the runtime's name.
	Name, ID string
	// Cgroup of the container.
	Cgroup string
}

// Of lists the containers of a pod that run and have a cgroup, in the order of the pod's status.
func (c *Containers) Of(pod *state.Pod, now time.Time) []Container {
	if c.pods == nil {
		return c.expected
	}
	at := c.layout.Pod(pod.Class(), pod.UID)
	status := &pod.Object.Status
	var found []Container
	for _, statuses := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
		for i := range statuses {
			_, id, isSet := strings.Cut(statuses[i].ContainerID, "://")
			if !isSet || statuses[i].State.Running == nil {
				continue
			}
			if path := c.path(at, id, now); path != "" {
				found = append(found, Container{Name: statuses[i].Name, ID: id, Cgroup: path})
			}
		}
	}
	return found
}

// path of a container's cgroup; empty while there is none.
func (c *Containers) path(pod, id string, now time.Time) string {
	known := c.pods[pod]
	if known == nil {
		known = &listing{}
		c.pods[pod] = known
	}
	known.used = now
	if path, found := known.paths[id]; found && now.Sub(known.at) < relist {
		return path
	}
	if now.Equal(known.at) {
		return known.paths[id]
	}
	known.at, known.paths = now, map[string]string{}
	names, err := c.tree.Directories(c.layout.Directory(cgroup.CPUStat, pod))
	if err != nil {
		return "" // the pod has no cgroup yet, or none any more
	}
	for _, name := range names {
		if found, is := c.layout.ContainerOf(name); is {
			known.paths[found] = pod + "/" + name
		}
	}
	return known.paths[id]
}

// Forget drops pods that were not asked for since a moment.
func (c *Containers) Forget(before time.Time) {
	maps.DeleteFunc(c.pods, func(_ string, l *listing) bool { return l.used.Before(before) })
}
