package spark

import (
	"context"
	"errors"
	"fmt"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

// leastChange is the change of what the node offers that is waited for, in thousandths of a core. What the service uses changes by
// five times as much.
const leastChange = 100

func (s *story) raiseLoad(ctx context.Context, t *tutorial.Session) (err error) {
	s.offerBefore = s.Offer
	err = s.UnderLoad(ctx, s.High, func(ctx context.Context) error {
		err := s.AwaitOffer(ctx, t, "the node to offer less", func(ctx context.Context) error { return s.gaveWay(ctx, t) })
		if err != nil {
			return err
		}
		if _, err := t.Koordctl(ctx, "explain", "node", t.Node.Name, "suppress"); err != nil {
			return err
		}
		_, err = t.Koordctl(ctx, "explain", "node", t.Node.Name, "batch-cpu")
		return err
	})
	if err != nil {
		return err
	}
	if s.raised, err = s.MeasureBeside(ctx, t, "with Spark", s.High, s.tasks(t)); err != nil {
		return err
	}
	least := s.Offer
	if err := s.Look(ctx, t); err != nil {
		return err
	}
	s.Offer = min(s.Offer, least)
	_, err = t.Kubectl(ctx, "get", "pods", "-n", Namespace)
	return err
}

func (s *story) seenRaised() string {
	return fmt.Sprintf("batch-cpu went from %d to %d thousandths of a core, and Spark from %.1f to %.1f tasks a second. The p99 is %s, %s of what it is "+
		"with the engine paused. The pods that run stay: they get less CPU time, and are evicted only where the agent's features "+
		"for that are on.", s.offerBefore, s.Offer, s.together.Progress, s.raised.Progress, service.Milliseconds(s.raised.P99),
		s.raised.Slower()) + s.Remark()
}

func (s *story) gaveWay(context.Context, *tutorial.Session) error {
	if !s.Full && s.Offer > max(s.offerBefore-leastChange, 0) {
		return fmt.Errorf("the node offers %d thousandths of a core, and %d before the service needed more", s.Offer, s.offerBefore)
	}
	return nil
}

func (s *story) lowerLoad(ctx context.Context, t *tutorial.Session) (err error) {
	s.offerBefore = s.Offer
	err = s.UnderLoad(ctx, service.Low, func(ctx context.Context) error {
		return s.AwaitOffer(ctx, t, "the node to offer more", func(context.Context) error {
			if s.Offer < s.offerBefore+leastChange {
				return fmt.Errorf("it offers %d thousandths of a core, and offered %d", s.Offer, s.offerBefore)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if s.lowered, err = s.MeasureBeside(ctx, t, "with Spark, afterwards", service.Low, s.tasks(t)); err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "top", "nodes")
	return err
}

func (s *story) seenLowered() string {
	return fmt.Sprintf("batch-cpu went from %d to %d thousandths of a core, and Spark from %.1f to %.1f tasks a second. The p99 is %s.",
		s.offerBefore, s.Offer, s.raised.Progress, s.lowered.Progress, service.Milliseconds(s.lowered.P99)) + s.Remark()
}

func (s *story) recovered(context.Context, *tutorial.Session) error {
	if s.lowered.Progress <= 0 {
		return errors.New("the application does no tasks anymore")
	}
	return nil
}

// summarize says all figures in one table.
func (s *story) summarize(_ context.Context, t *tutorial.Session) error {
	t.Table(service.Table("TASKS/S", 1, s.AloneLow, s.AloneHigh, s.together, s.raised, s.lowered))
	return nil
}
