package machine

import (
	"errors"
	"math"
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

// pods reads what the pods use. Their cgroups are found by listing those of the QoS classes, so that pods are measured
// whether or not anybody told of them.
type pods struct {
	tree   files.FS
	layout cgroup.Layout
	known  map[types.UID]*usage
	// order is by UID, so that it stays the same while the pods do.
	order  []*usage
	buffer []byte
	round  uint64
}

// usage is what one cgroup counts.
type usage struct {
	uid          types.UID
	path         string
	cpu          files.File
	memory, stat files.File
	round        uint64
}

func newPods(tree files.FS, layout cgroup.Layout) *pods {
	return &pods{tree: tree, layout: layout, known: map[types.UID]*usage{}}
}

// read appends the counters of all pods.
func (p *pods) read(into []host.PodCounter) ([]host.PodCounter, error) {
	if err := p.find(); err != nil {
		return into, err
	}
	for _, pod := range p.order {
		counter, err := p.counterOf(pod)
		if err != nil {
			p.drop(pod) // it is found again if it is still there
			continue
		}
		into = append(into, host.PodCounter{UID: pod.uid, Counter: counter})
	}
	p.order = slices.DeleteFunc(p.order, func(pod *usage) bool { return pod.cpu == nil })
	return into, nil
}

// find opens the files of pods that are new, and closes those of pods that went.
func (p *pods) find() error {
	p.round++
	changed, found := false, false
	for _, class := range []corev1.PodQOSClass{corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
		above := p.layout.QoS(class)
		names, err := p.tree.Directories(p.layout.Directory(cgroup.CPUUsage, above))
		if files.IsGone(err) {
			continue
		}
		if err != nil {
			return err
		}
		found = true
		for _, name := range names {
			if uid, isPod := p.layout.PodOf(name); isPod {
				changed = p.see(uid, above+"/"+name) || changed
			}
		}
	}
	for _, pod := range p.known {
		if pod.round != p.round {
			p.drop(pod)
			changed = true
		}
	}
	if changed {
		p.order = p.order[:0]
		for _, pod := range p.known {
			p.order = append(p.order, pod)
		}
		slices.SortFunc(p.order, func(a, b *usage) int { return strings.Compare(string(a.uid), string(b.uid)) })
	}
	if !found {
		return errNoPods
	}
	return nil
}

// see reports whether a pod is new. A pod whose files cannot be opened is tried again at the next reading.
func (p *pods) see(uid types.UID, path string) bool {
	pod := p.known[uid]
	if pod != nil && pod.path == path {
		pod.round = p.round
		return false
	}
	opened, err := p.open(uid, path)
	if err != nil {
		return false
	}
	if pod != nil {
		p.drop(pod)
	}
	opened.round = p.round
	p.known[uid] = opened
	return true
}

func (p *pods) open(uid types.UID, path string) (*usage, error) {
	opened := &usage{uid: uid, path: path}
	var problems []error
	open := func(statistic cgroup.Statistic) files.File {
		file, err := p.tree.Open(p.layout.Statistic(statistic, path))
		problems = append(problems, err)
		return file
	}
	opened.cpu, opened.memory, opened.stat = open(cgroup.CPUUsage), open(cgroup.MemoryUsage), open(cgroup.MemoryStat)
	err := errors.Join(problems...)
	if err != nil {
		opened.close()
	}
	return opened, err
}

// counterOf reads one pod: CPU time, and memory less the file pages that nobody used lately.
func (p *pods) counterOf(pod *usage) (host.Counter, error) {
	var counter host.Counter
	content, err := pod.cpu.Read(p.buffer)
	if err != nil {
		return counter, err
	}
	p.buffer = content
	if counter.CPU, err = cpuTime(p.layout.Version, content); err != nil {
		return counter, err
	}
	if content, err = pod.memory.Read(p.buffer); err != nil {
		return counter, err
	}
	p.buffer = content
	used, _, err := leadingNumber(content)
	if err != nil {
		return counter, err
	}
	if content, err = pod.stat.Read(p.buffer); err != nil {
		return counter, err
	}
	p.buffer = content
	inactive, err := inactiveFile(p.layout.Version, content)
	counter.Memory = max(used-inactive, 0)
	return counter, err
}

// cpuTime reads the CPU time of a cgroup.
func cpuTime(version cgroup.Version, content []byte) (time.Duration, error) {
	if version == cgroup.V2 {
		microseconds, err := field(content, "usage_usec")
		return time.Duration(min(microseconds, math.MaxInt64/1000)) * time.Microsecond, err
	}
	nanoseconds, _, err := leadingNumber(content)
	return time.Duration(nanoseconds), err
}

// inactiveFile reads the page cache of a cgroup and those below it that is reclaimed first, in bytes.
func inactiveFile(version cgroup.Version, content []byte) (int64, error) {
	if version == cgroup.V2 {
		return field(content, "inactive_file")
	}
	return field(content, "total_inactive_file")
}

func (p *pods) drop(pod *usage) {
	pod.close()
	delete(p.known, pod.uid)
}

func (p *pods) close() {
	for _, pod := range p.known {
		pod.close()
	}
}

func (u *usage) close() {
	for _, file := range []files.File{u.cpu, u.memory, u.stat} {
		if file != nil {
			_ = file.Close() // nothing was written
		}
	}
	u.cpu, u.memory, u.stat = nil, nil, nil
}
