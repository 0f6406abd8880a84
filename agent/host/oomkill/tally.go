package oomkill

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

// errNotCounted is for kernels before 4.13, whose files lack the counter.
var errNotCounted = errors.New("the kernel does not count OOM kills (needs Linux 4.13)")

// Supported returns why OOM kills of pods cannot be reported, nil when they can. Where kubelet has made no cgroups yet it is nil.
func Supported(tree files.FS, layout cgroup.Layout) error {
	content, err := tree.Read(layout.Statistic(cgroup.OOMKills, layout.Kubepods()), nil)
	switch {
	case files.IsGone(err) && tree.Exists(layout.Directory(cgroup.OOMKills, layout.Kubepods())):
		return fmt.Errorf("cgroup %q has no controller for memory", layout.Kubepods())
	case files.IsGone(err):
		return nil
	case err != nil:
		return err
	}
	_, err = killsIn(content)
	return err
}

// killsIn reads the number of processes that were killed from memory.events and memory.oom_control.
func killsIn(content []byte) (int64, error) {
	for line := range bytes.Lines(content) {
		if text, found := bytes.CutPrefix(line, []byte("oom_kill ")); found {
			kills, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 63)
			return int64(kills), err
		}
	}
	return 0, errNotCounted
}

// tally is what is known of the kernel's counters.
type tally struct {
	tree     files.FS
	layout   cgroup.Layout
	notifier notifier
	buffer   []byte
	// begun says that the counters of all that was there have been read: those of what is found later began at zero.
	begun bool
	// total is the counter of all pods, in version 2.
	total int64
	pods  map[types.UID]*pod
	// fresh are the pods with containers of which the kernel notifies since the last look. What it notified of before that may not be counted yet.
	fresh map[types.UID]bool
}

// pod is what is known of one.
type pod struct {
	uid  types.UID
	path string
	// counter of the pod's cgroup, and what was reported of that; in version 2 containers are in both.
	counter, reported int64
	// containers' counters by the names of their cgroups.
	containers map[string]int64
	listed     bool
}

// look returns what was killed since the previous look, or nothing the first time. What cannot be read is read the next time.
func (t *tally) look(now time.Time, where hint) []Kill {
	clear(t.fresh)
	if t.layout.Version == cgroup.V2 && (where.all || where.total) {
		// It is read before those of pods, so that what is killed in between shows the next time.
		total, err := t.count(t.layout.Kubepods())
		if !where.all && (err != nil || total == t.total) {
			return nil
		}
		t.total, where.all = total, true
	}
	complete := true
	if where.all {
		complete = t.list()
	}
	var kills []Kill
	for _, uid := range slices.Sorted(maps.Keys(t.pods)) {
		if !where.all && !where.pods[uid] {
			continue
		}
		found, err := t.read(t.pods[uid])
		complete = complete && err == nil
		kills = append(kills, found...)
	}
	if !t.begun {
		// Kills counted before the agent started are not reported.
		t.begun, kills = where.all && complete, nil
	}
	for i := range kills {
		kills[i].Time = now
	}
	return kills
}

// list finds the pods, and reports whether the list is complete.
func (t *tally) list() (complete bool) {
	for _, pod := range t.pods {
		pod.listed = false
	}
	t.notifier.directory(t.layout.Kubepods())
	for _, class := range []corev1.PodQOSClass{corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
		above := t.layout.QoS(class)
		t.notifier.directory(above)
		names, err := t.tree.Directories(t.layout.Directory(cgroup.OOMKills, above))
		if err != nil && !files.IsGone(err) {
			return false
		}
		for _, name := range names {
			if uid, isPod := t.layout.PodOf(name); isPod {
				t.see(uid, above+"/"+name)
			}
		}
	}
	for _, pod := range t.pods {
		if !pod.listed {
			t.drop(pod)
		}
	}
	return true
}

func (t *tally) see(uid types.UID, path string) {
	if known := t.pods[uid]; known == nil || known.path != path {
		t.drop(known)
		t.pods[uid] = &pod{uid: uid, path: path, containers: map[string]int64{}}
	}
	t.pods[uid].listed = true
}

func (t *tally) drop(p *pod) {
	if p == nil {
		return
	}
	for name := range p.containers {
		t.notifier.forget(p.path + "/" + name)
	}
	delete(t.pods, p.uid)
}

// read returns what was killed in a pod. Its own counter is read before those of its containers: what is killed in between is
// reported with the container, and then not again with the pod.
func (t *tally) read(p *pod) ([]Kill, error) {
	own, err := t.count(p.path)
	if files.IsGone(err) {
		return nil, nil // it is not listed the next time
	}
	if err != nil {
		return nil, err
	}
	if own < p.counter { // the cgroup was recreated
		p.reported = 0
	}
	p.counter = own
	kills, err := t.readContainers(p)
	if t.layout.Version == cgroup.V2 {
		for _, kill := range kills {
			p.reported += kill.Processes
		}
	}
	if err != nil {
		return kills, err // what is left may be a container's
	}
	if remaining := own - p.reported; remaining > 0 {
		kills = append(kills, Kill{Pod: p.uid, Processes: remaining})
		p.reported = own
	}
	return kills, nil
}

// readContainers returns what was killed in the containers of a pod. Those of which the counter cannot be read are the error's.
func (t *tally) readContainers(p *pod) (kills []Kill, err error) {
	t.notifier.directory(p.path)
	names, err := t.tree.Directories(t.layout.Directory(cgroup.OOMKills, p.path))
	if err != nil && !files.IsGone(err) {
		return nil, err
	}
	slices.Sort(names)
	var problems []error
	for _, name := range names {
		id, isContainer := t.layout.ContainerOf(name)
		if !isContainer {
			continue
		}
		if _, known := p.containers[name]; !known {
			if t.notifier.container(p.uid, p.path+"/"+name) {
				t.fresh[p.uid] = true
			}
			p.containers[name] = 0
		}
		count, err := t.count(p.path + "/" + name)
		if err != nil {
			if !files.IsGone(err) {
				problems = append(problems, err)
			}
			continue
		}
		if before := p.containers[name]; count > before {
			kills = append(kills, Kill{Pod: p.uid, Container: id, Processes: count - before})
		}
		p.containers[name] = count
	}
	for name := range p.containers {
		if !slices.Contains(names, name) {
			t.notifier.forget(p.path + "/" + name)
			delete(p.containers, name)
		}
	}
	return kills, errors.Join(problems...)
}

// count reads the counter of a cgroup.
func (t *tally) count(at string) (int64, error) {
	content, err := t.tree.Read(t.layout.Statistic(cgroup.OOMKills, at), t.buffer)
	if err != nil {
		return 0, err
	}
	t.buffer = content
	return killsIn(content)
}
