package trino

import (
	"context"
	"errors"
	"fmt"
	"time"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

func (s *story) raiseLoad(ctx context.Context, t *tutorial.Session) (err error) {
	// One can go where another one stays. Others may have gone already, by what else ran on the machine.
	err = s.UnderLoad(ctx, service.Low, func(ctx context.Context) error {
		return t.Await(ctx, "the workers to start", service.FollowWithin, s.workersStart(t))
	})
	if err != nil {
		return err
	}
	s.before = len(s.workers)
	err = s.UnderLoad(ctx, s.High, func(ctx context.Context) error {
		if err := s.awaitDrain(ctx, t); err != nil {
			return err
		}
		if err := s.showDrain(ctx, t); err != nil {
			return err
		}
		return s.awaitGone(ctx, t)
	})
	if err != nil {
		return err
	}
	s.show(t, sql, s.drain.answered.Answer)
	if s.raised, err = s.MeasureBeside(ctx, t, "with Trino", s.High, s.queries.rows); err != nil {
		return err
	}
	if _, err = t.Koordctl(ctx, "why", "workers/trino", "-n", Namespace); err != nil {
		return err
	}
	_, err = t.Kubectl(ctx, "get", "pods", "-n", Namespace)
	return err
}

func (s *story) seenRaised() string {
	return fmt.Sprintf("Worker %s had %d tasks of query %s when it was asked to shut down. The query was answered after %s, and as before. "+
		"%s left, of %d. Trino went from %.0f to %.0f thousand rows a second. The p99 is %s, %s of what it is with the engine paused.",
		s.drain.worker, s.drain.tasks, s.drain.query, s.drain.answered.Took.Round(time.Second), isLeft(len(s.workers)), s.before,
		s.together.Progress/thousand, s.raised.Progress/thousand, service.Milliseconds(s.raised.P99),
		s.raised.Slower()) + s.remark()
}

// isLeft says how many workers there are still.
func isLeft(workers int) string {
	if workers == 1 {
		return "1 worker is"
	}
	return fmt.Sprintf("%d workers are", workers)
}

// remark is added where what the node offered did not follow the service.
func (s *story) remark() string {
	if !s.limited {
		return ""
	}
	return " Other programs changed what they used, so that the node did not offer less in time: the worker was drained because maxReplicas was lowered."
}

func (s *story) lowerLoad(ctx context.Context, t *tutorial.Session) (err error) {
	s.before = len(s.workers)
	if s.limited {
		if err := limitWorkers(ctx, t, mostWorkers); err != nil {
			return err
		}
	}
	err = s.UnderLoad(ctx, service.Low, func(ctx context.Context) error {
		err := s.AwaitOffer(ctx, t, "more workers to be wanted", func(ctx context.Context) error { return s.wantsMore(ctx, t) })
		if err != nil || s.Full {
			return err
		}
		if err := t.Await(ctx, "the workers to start", service.StartWithin, s.workersStart(t)); err != nil {
			return err
		}
		return s.awaitAnswers(ctx, t)
	})
	if err != nil {
		return err
	}
	if s.lowered, err = s.MeasureBeside(ctx, t, "with Trino, afterwards", service.Low, s.queries.rows); err != nil {
		return err
	}
	if err := s.showNodes(ctx, t); err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "explain", "workers", "trino", "-n", Namespace)
	return err
}

// awaitAnswers waits until as many queries have ended as run at once: workers that have just started still compile what they run.
func (s *story) awaitAnswers(ctx context.Context, t *tutorial.Session) error {
	before := len(s.queries.past())
	return t.Await(ctx, "queries to be answered by the workers that came", answerWithin, func(context.Context) error {
		if ended := len(s.queries.past()) - before; ended < atOnce {
			return fmt.Errorf("%d queries have ended since", ended)
		}
		return nil
	})
}

// wantsMore returns an error unless more workers are wanted than before.
func (s *story) wantsMore(ctx context.Context, t *tutorial.Session) error {
	if err := s.lookAtWorkers(ctx, t); err != nil {
		return err
	}
	if int(s.sizing.Status.DesiredReplicas) <= s.before {
		return fmt.Errorf("%d workers are wanted, as before: %s", s.before, s.sizing.Status.Message)
	}
	return nil
}

func (s *story) seenLowered() string {
	return fmt.Sprintf("There are %d workers again, after %d. Trino went from %.0f to %.0f thousand rows a second. The p99 is %s.",
		runningWorkers(s.workers), s.before, s.raised.Progress/thousand, s.lowered.Progress/thousand, service.Milliseconds(s.lowered.P99)) + s.Remark()
}

func (s *story) recovered(context.Context, *tutorial.Session) error {
	if s.lowered.Progress <= 0 {
		return errors.New("trino reads nothing anymore")
	}
	return s.queries.same(s.answer)
}

// summarize says all figures in one table.
func (s *story) summarize(_ context.Context, t *tutorial.Session) error {
	t.Table(service.Table("THOUSAND ROWS/S", 1.0/thousand, s.AloneLow, s.AloneHigh, s.together, s.raised, s.lowered))
	return nil
}
