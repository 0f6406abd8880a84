package oomkill

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// notifier says when counters are worth reading.
type notifier interface {
	// directory is called before a directory of cgroups is listed.
	directory(cgroup string)
	// container is called before the counter of a container is read first, and is true where the kernel notifies of it from now on.
	container(pod types.UID, cgroup string) bool
	// forget is called for a container that is no longer listed.
	forget(cgroup string)
	// wait returns what the kernel notifies of, and nothing when the context or a time is over.
	wait(ctx context.Context, within time.Duration) hint
}

// silent is for trees that are no kernel's.
type silent struct{ clock clock.WithTicker }

func (silent) directory(string)                 {}
func (silent) container(types.UID, string) bool { return false }
func (silent) forget(string)                    {}
func (s silent) wait(ctx context.Context, within time.Duration) hint {
	_ = pause(ctx, s.clock, within) // the caller looks at the context
	return hint{}
}
