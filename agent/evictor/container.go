package evictor

import (
	"context"
	"errors"
	"io/fs"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// ContainerKiller ends containers of schedulers outside of Kubernetes. An error that wraps fs.ErrNotExist says that one is gone.
type ContainerKiller interface {
	Kill(ctx context.Context, container eviction.Ref) error
}

// errNoKiller is for a container that nothing can end.
var errNoKiller = errors.New("no agent ends containers")

// kill ends a container by its agent.
func (e *Evictor) kill(ctx context.Context, container eviction.Ref) error {
	if e.options.Containers == nil {
		return errNoKiller
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return e.options.Containers.Kill(call, container)
}

// addContainers adds the containers after the pods.
func (e *Evictor) addContainers(reading Reading, in *eviction.Input) {
	for i := range reading.Containers {
		in.Pods = append(in.Pods, e.remembered(eviction.ContainerOf(&reading.Containers[i], reading.Now), reading.Now))
	}
}

// logKill says in the log what came of ending a container. It leaves no event: there is no object that one could be about.
func logKill(ctx context.Context, victim eviction.Victim, err error) {
	logger := klog.FromContext(ctx).WithValues("container", victim.Pod.String(), "agent", victim.Pod.Agent, "feature", victim.Feature)
	switch {
	case isGone(err):
	case err != nil && ctx.Err() == nil:
		logger.Error(err, "Failed to kill container")
	case err == nil:
		logger.Info("Killed container", "reason", victim.Reason)
	}
}

// isGone reports whether a pod or a container had ended before.
func isGone(err error) bool { return apierrors.IsNotFound(err) || errors.Is(err, fs.ErrNotExist) }
