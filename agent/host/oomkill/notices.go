package oomkill

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/containerd/cgroups/v3/cgroup1"
	"github.com/containerd/cgroups/v3/cgroup2"
	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/eventfd"
)

// located is a tree of the kernel's, which is at a directory.
type located interface{ Location() string }

// notices are descriptors that become readable when the kernel has something to say. One goroutine uses them.
type notices struct {
	root   string
	layout cgroup.Layout
	// done becomes readable when the context ends.
	done *eventfd.Done
	// changes is a descriptor of inotify: of directories in which containers are made, in version 1, and of the file with the
	// counters of all pods, in version 2. It is -1 while there is none.
	changes int
	// events are those of containers by their cgroups, in version 1.
	events map[string]event
}

type event struct {
	descriptor int
	pod        types.UID
}

func newNotices(ctx context.Context, root string, layout cgroup.Layout) (*notices, error) {
	n := &notices{root: root, layout: layout, changes: -1, events: map[string]event{}}
	var err error
	if n.done, err = eventfd.NewDone(ctx); err != nil {
		return nil, err
	}
	if layout.Version == cgroup.V1 {
		if n.changes, err = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err != nil {
			n.done.Close()
			return nil, fmt.Errorf("make an inotify instance: %w", err)
		}
	}
	return n, nil
}

// directory implements notifier. What cannot be watched, as what is not there yet, is tried again the next time it is listed, and
// its counters are read in any case.
func (n *notices) directory(at string) {
	if n.layout.Version == cgroup.V1 {
		_, _ = unix.InotifyAddWatch(n.changes, path.Join(n.root, n.layout.Directory(cgroup.OOMKills, at)), unix.IN_CREATE|unix.IN_ONLYDIR)
		return
	}
	if at != n.layout.Kubepods() || n.changes >= 0 {
		return
	}
	manager, err := cgroup2.Load("/"+at, cgroup2.WithMountpoint(n.root))
	if err != nil {
		return
	}
	descriptor, _, err := manager.MemoryEventFD()
	if err != nil {
		return
	}
	n.changes = nonBlocking(descriptor)
}

// container implements notifier.
func (n *notices) container(pod types.UID, at string) bool {
	if n.layout.Version == cgroup.V2 {
		return false // the counters of all pods contain it
	}
	memory := func() ([]cgroup1.Subsystem, error) { return []cgroup1.Subsystem{cgroup1.NewMemory(n.root)}, nil }
	control, err := cgroup1.Load(cgroup1.StaticPath("/"+at), cgroup1.WithHierarchy(memory))
	if err != nil {
		return false
	}
	descriptor, err := control.OOMEventFD()
	if err != nil {
		return false
	}
	n.forget(at)
	own := nonBlocking(int(descriptor))
	if own >= 0 {
		n.events[at] = event{descriptor: own, pod: pod}
	}
	return own >= 0
}

// nonBlocking has reads of a descriptor end when there is nothing more; -1 where that fails.
func nonBlocking(descriptor int) int {
	if err := unix.SetNonblock(descriptor, true); err != nil {
		_ = unix.Close(descriptor) // nothing is to be heard of it
		return -1
	}
	return descriptor
}

// forget implements notifier.
func (n *notices) forget(at string) {
	if known, is := n.events[at]; is {
		_ = unix.Close(known.descriptor) // nothing more is to be heard of it
		delete(n.events, at)
	}
}

// wait implements notifier.
func (n *notices) wait(ctx context.Context, within time.Duration) hint {
	// A negative descriptor is none to the kernel.
	waiting := []unix.PollFd{{Fd: int32(n.done.Descriptor()), Events: unix.POLLIN}, {Fd: int32(n.changes), Events: unix.POLLIN}}
	var heard []event
	for _, event := range n.events {
		waiting = append(waiting, unix.PollFd{Fd: int32(event.descriptor), Events: unix.POLLIN})
		heard = append(heard, event)
	}
	for end := time.Now().Add(within); ; {
		left := time.Until(end)
		count, err := unix.Poll(waiting, int(max(left, 0)/time.Millisecond)+1)
		switch {
		case errors.Is(err, unix.EINTR) && ctx.Err() == nil:
			continue
		case err != nil || ctx.Err() != nil || count == 0:
			return hint{}
		}
		break
	}
	var out hint
	if waiting[1].Revents != 0 && n.changed() {
		out.all, out.total = n.layout.Version == cgroup.V1, n.layout.Version == cgroup.V2
	}
	for i, event := range heard {
		if waiting[i+2].Revents != 0 && drain(event.descriptor) {
			if out.pods == nil {
				out.pods = map[types.UID]bool{}
			}
			out.pods[event.pod] = true
		}
	}
	return out
}

// drain reads a counter of events, which resets it.
func drain(descriptor int) bool {
	var count [8]byte
	_, err := unix.Read(descriptor, count[:])
	return err == nil
}

// changed takes all that inotify has to say. A file that went, with its cgroup, is watched again once it is there.
func (n *notices) changed() bool {
	var buffer [4096]byte
	any, gone := false, false
	for {
		length, err := unix.Read(n.changes, buffer[:])
		if err != nil || length < unix.SizeofInotifyEvent {
			break
		}
		any = true
		for at := 0; at+unix.SizeofInotifyEvent <= length; {
			mask, name := binary.NativeEndian.Uint32(buffer[at+4:]), binary.NativeEndian.Uint32(buffer[at+12:])
			gone = gone || mask&unix.IN_IGNORED != 0
			at += unix.SizeofInotifyEvent + int(name)
		}
	}
	if gone && n.layout.Version == cgroup.V2 {
		_ = unix.Close(n.changes) // its file is no more
		n.changes = -1
	}
	return any
}

// close ends all notifications.
func (n *notices) close() {
	for at := range n.events {
		n.forget(at)
	}
	if n.changes >= 0 {
		_ = unix.Close(n.changes) // nothing was written
	}
	n.done.Close()
}
