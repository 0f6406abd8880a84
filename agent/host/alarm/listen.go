package alarm

import (
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/eventfd"
)

const (
	// trigger asks the kernel for an event when some task of a cgroup waited for a CPU for 5 of 500 milliseconds, which is the shortest
	// window there is. The kernel checks ten times in a window, and sends at most one event in each.
	trigger = "some 5000 500000"
	// maxTriggers bounds how many cgroups are listened to: for each the kernel has a thread.
	maxTriggers = 32
	// matchInterval is how often the cgroups are looked for.
	matchInterval = 10 * time.Second
)

// TriggerTree is a tree whose files can be listened to.
type TriggerTree interface {
	// OpenTrigger opens a file of pressure and has the kernel tell when it exceeds a threshold, by priority data on the
	// descriptor, which is to be closed.
	OpenTrigger(path, threshold string) (descriptor int, err error)
}

// listener has the triggers that are set, as descriptors by cgroup.
type listener struct {
	options Options
	tree    TriggerTree
	set     map[string]int
	// matched is when the cgroups were looked for last; zero before the first time.
	matched time.Time
	// refused says that the kernel does not let the agent listen, or set triggers that are quick enough: that takes CAP_SYS_RESOURCE.
	refused bool
}

// listen rings when the kernel says that a service waits, until the context ends or it turns out that there is nothing to
// listen to.
func (a *Alarm) listen(ctx context.Context) {
	tree, can := a.options.Tree.(TriggerTree)
	if !can {
		return
	}
	done, err := eventfd.NewDone(ctx)
	if err != nil {
		return
	}
	defer done.Close()
	l := &listener{options: a.options, tree: tree, set: map[string]int{}}
	defer l.close()
	for ctx.Err() == nil {
		if now := a.options.Clock.Now(); l.untilMatch(now) == 0 {
			l.match()
			l.matched = now
		}
		if l.refused {
			klog.FromContext(ctx).V(2).Info("Kernel does not support pressure triggers, polling CPU time instead")
			return
		}
		if l.wait(done.Descriptor(), l.untilMatch(a.options.Clock.Now())) {
			a.raise(func(c *Counts) { c.Pressure++ })
		}
	}
}

// untilMatch is how long it is until the cgroups are looked for again, whatever is heard of them meanwhile.
func (l *listener) untilMatch(now time.Time) time.Duration {
	if age := now.Sub(l.matched); !l.matched.IsZero() && age >= 0 && age < matchInterval {
		return matchInterval - age
	}
	return 0
}

// match sets triggers on the cgroups of services: that of all pods of the class Burstable, and those of pods of the class
// Guaranteed.
func (l *listener) match() {
	layout := l.options.Layout
	groups := []string{layout.QoS(corev1.PodQOSBurstable)}
	names, _ := l.options.Tree.Directories(layout.Directory(cgroup.CPUUsage, layout.Kubepods())) // none while there is none
	slices.Sort(names)
	for _, name := range names {
		if _, isPod := layout.PodOf(name); isPod && len(groups) < maxTriggers {
			groups = append(groups, layout.Kubepods()+"/"+name)
		}
	}
	wanted := map[string]bool{}
	for _, at := range groups {
		wanted[at] = true
		if _, isSet := l.set[at]; !isSet {
			l.open(at)
		}
	}
	for at := range l.set {
		if !wanted[at] {
			l.unset(at)
		}
	}
}

// open sets the trigger of a cgroup that has pressure.
func (l *listener) open(at string) {
	directories := []string{at}
	if l.options.Layout.Version == cgroup.V1 {
		directories = []string{path.Join("unified", at), l.options.Layout.Directory(cgroup.CPUUsage, at)}
	}
	for _, directory := range directories {
		descriptor, err := l.tree.OpenTrigger(path.Join(directory, "cpu.pressure"), trigger)
		switch {
		case err == nil:
			l.set[at] = descriptor
			return
		case errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EOPNOTSUPP):
			l.refused = true
		}
	}
}

// wait reports whether a trigger fired within a time.
func (l *listener) wait(wake int, within time.Duration) bool {
	waiting := []unix.PollFd{{Fd: int32(wake), Events: unix.POLLIN}}
	var groups []string
	for at, descriptor := range l.set {
		waiting = append(waiting, unix.PollFd{Fd: int32(descriptor), Events: unix.POLLPRI})
		groups = append(groups, at)
	}
	n, err := unix.Poll(waiting, int(within/time.Millisecond)+1)
	if err != nil && !errors.Is(err, unix.EINTR) {
		l.refused = true // so many cannot be listened to
	}
	if err != nil || n == 0 || waiting[0].Revents != 0 {
		return false
	}
	fired := false
	for i, at := range groups {
		switch events := waiting[i+1].Revents; {
		case events&(unix.POLLERR|unix.POLLNVAL|unix.POLLHUP) != 0: // the cgroup went
			l.unset(at)
		case events&unix.POLLPRI != 0:
			fired = true
		}
	}
	return fired
}

func (l *listener) unset(at string) {
	_ = unix.Close(l.set[at]) // nothing more is to be heard of it
	delete(l.set, at)
}

func (l *listener) close() {
	for at := range l.set {
		l.unset(at)
	}
}
