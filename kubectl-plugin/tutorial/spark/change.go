package spark

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/sandbox/workload"
)

// leastChange is the change of what the node offers that is waited for, in thousandths of a core. What the service uses changes by
// five times as much.
const leastChange = 100

// Where other programs keep so much of the machine's CPU in use for so long, there is nothing that could be offered or not: what the
// service leaves, they take at once.
const (
	fullShare = 0.97
	fullFor   = time.Minute
)

// awaitOffer waits until what the node offers has changed. Where other programs use all that is left of the machine, it does not.
func (s *story) awaitOffer(ctx context.Context, t *tutorial.Session, what string, check func(context.Context) error) error {
	began := time.Now()
	before, err := workload.MachineCPUTime()
	if err != nil {
		return err
	}
	return t.Await(ctx, what, followWithin, func(ctx context.Context) error {
		err := check(ctx)
		if err == nil || time.Since(began) < fullFor {
			return err
		}
		now, problem := workload.MachineCPUTime()
		if problem == nil && now.Since(before) >= fullShare {
			s.full = true
			return nil
		}
		return err
	})
}

// remark is added to what is seen where the machine was full.
func (s *story) remark() string {
	if !s.full {
		return ""
	}
	return " Other programs used all that was left of the machine, so that what the node offers could not follow."
}

func (s *story) raiseLoad(ctx context.Context, t *tutorial.Session) (err error) {
	s.offerBefore, s.full = s.offer, false
	err = s.underLoad(ctx, high, func(ctx context.Context) error {
		err := s.awaitOffer(ctx, t, "the node to offer less", func(ctx context.Context) error {
			if err := s.look(ctx, t); err != nil {
				return err
			}
			return s.gaveWay(ctx, t)
		})
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
	if s.raised, err = s.measure(ctx, t, "with Spark", high); err != nil {
		return err
	}
	least := s.offer
	if err := s.look(ctx, t); err != nil {
		return err
	}
	s.offer = min(s.offer, least)
	_, err = t.Kubectl(ctx, "get", "pods", "-n", Namespace)
	return err
}

func (s *story) seenRaised() string {
	return fmt.Sprintf("batch-cpu went from %d to %d thousandths of a core, and Spark from %.1f to %.1f tasks a second. The p99 is %s, %s of what it is "+
		"with as many requests and no Spark. The pods that run stay: they get less CPU time, and are evicted only where the agent's features "+
		"for that are on.", s.offerBefore, s.offer, s.together.tasks, s.raised.tasks, milliseconds(s.raised.P99),
		times(float64(s.raised.P99), float64(s.aloneHigh.P99))) + s.remark()
}

func (s *story) gaveWay(context.Context, *tutorial.Session) error {
	if !s.full && s.offer > max(s.offerBefore-leastChange, 0) {
		return fmt.Errorf("the node offers %d thousandths of a core, and %d before the service needed more", s.offer, s.offerBefore)
	}
	return nil
}

func (s *story) lowerLoad(ctx context.Context, t *tutorial.Session) (err error) {
	s.offerBefore, s.full = s.offer, false
	err = s.underLoad(ctx, low, func(ctx context.Context) error {
		return s.awaitOffer(ctx, t, "the node to offer more", func(ctx context.Context) error {
			if err := s.look(ctx, t); err != nil {
				return err
			}
			if s.offer < s.offerBefore+leastChange {
				return fmt.Errorf("it offers %d thousandths of a core, and offered %d", s.offer, s.offerBefore)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if s.lowered, err = s.measure(ctx, t, "with Spark, afterwards", low); err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "top", "nodes")
	return err
}

func (s *story) seenLowered() string {
	return fmt.Sprintf("batch-cpu is back from %d to %d thousandths of a core, and Spark from %.1f to %.1f tasks a second. The p99 is %s.",
		s.offerBefore, s.offer, s.raised.tasks, s.lowered.tasks, milliseconds(s.lowered.P99)) + s.remark()
}

func (s *story) recovered(context.Context, *tutorial.Session) error {
	if s.lowered.tasks <= 0 {
		return errors.New("the application does no tasks anymore")
	}
	return nil
}

// summarize says all figures in one table.
func (s *story) summarize(_ context.Context, t *tutorial.Session) error {
	rows := [][]string{{"SITUATION", "REQUESTS/S", "P50", "P99", "TO ALONE", "CPU USED", "TO ALONE", "TASKS/S"}}
	for _, got := range []situation{s.aloneLow, s.aloneHigh, s.together, s.raised, s.lowered} {
		alone := s.aloneLow
		if math.Round(got.rate) == high {
			alone = s.aloneHigh
		}
		tasks := "-"
		if got.tasks > 0 {
			tasks = fmt.Sprintf("%.1f", got.tasks)
		}
		rows = append(rows, []string{
			got.name, fmt.Sprintf("%g", got.rate), milliseconds(got.P50), milliseconds(got.P99), times(float64(got.P99), float64(alone.P99)),
			percent(got.used), times(got.used, alone.used), tasks,
		})
	}
	return t.Table(rows)
}
