package service

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/sandbox/workload"
)

// FollowWithin is how long what a node offers may take to follow what is used of it: its averages are over a minute.
const FollowWithin = 4 * time.Minute

// Where other programs keep so much of the machine's CPU in use for so long, there is nothing that could be offered or not: what the
// service leaves, they take at once.
const (
	fullShare = 0.97
	fullFor   = time.Minute
)

// Look reads what the node offers.
func (s *Service) Look(ctx context.Context, t *tutorial.Session) error {
	var node corev1.Node
	if err := t.Ask(ctx, &node, "get", "node", t.Node.Name, "-o", "json"); err != nil {
		return err
	}
	offer := node.Status.Allocatable[extension.BatchCPU]
	s.Offer = offer.Value()
	return nil
}

// AwaitOffer looks at what the node offers until check returns nil. Where other programs use all that is left of the machine, it does not
// wait for that, and Full is true.
func (s *Service) AwaitOffer(ctx context.Context, t *tutorial.Session, what string, check func(context.Context) error) error {
	s.Full = false
	began := time.Now()
	before, err := workload.MachineCPUTime()
	if err != nil {
		return err
	}
	return t.Await(ctx, what, FollowWithin, func(ctx context.Context) error {
		err := s.Look(ctx, t)
		if err == nil {
			err = check(ctx)
		}
		if err == nil || time.Since(began) < fullFor {
			return err
		}
		now, problem := workload.MachineCPUTime()
		if problem == nil && now.Since(before) >= fullShare {
			s.Full = true
			return nil
		}
		return err
	})
}

// LookAtOffer waits until the node offers as much batch-cpu as an engine needs, in thousandths of a core, and explains what it offers.
func (s *Service) LookAtOffer(ctx context.Context, t *tutorial.Session, needed int64) error {
	err := s.AwaitOffer(ctx, t, "the node to offer batch-cpu", func(context.Context) error { return s.Suffices(needed) })
	if err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "explain", "node", t.Node.Name, "batch-cpu")
	return err
}

// Suffices returns an error unless the node offers as much as is needed.
func (s *Service) Suffices(needed int64) error {
	if s.Offer < needed {
		return fmt.Errorf("the node offers %d thousandths of a core as batch-cpu, and the engine needs %d: is the machine busy with something else?", s.Offer, needed)
	}
	return nil
}

// SeenOffer says what the node offers.
func (s *Service) SeenOffer() string {
	return fmt.Sprintf("The node offers %d thousandths of a core as batch-cpu.", s.Offer)
}

// Remark is added to what is seen where the machine was full.
func (s *Service) Remark() string {
	if !s.Full {
		return ""
	}
	return " Other programs used all that was left of the machine, so that what the node offers could not follow."
}
