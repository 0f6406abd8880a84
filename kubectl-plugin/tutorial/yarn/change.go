package yarn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

// leastChange is the change of what YARN may use that is waited for, in vcores: a tenth of a core. What the service uses changes by five
// times as much.
const leastChange = 2

func (s *story) raiseLoad(ctx context.Context, t *tutorial.Session) (err error) {
	// YARN may have little already: while containers were killed, the service got as many requests.
	err = s.UnderLoad(ctx, service.Low, func(ctx context.Context) error {
		return t.Await(ctx, "YARN to have more", service.FollowWithin, func(ctx context.Context) error {
			if err := s.look(ctx); err != nil {
				return err
			}
			return s.mayShrink()
		})
	})
	if err != nil {
		return err
	}
	s.before, s.used, s.countedBefore = s.node.vcores(), s.node.UsedVCores, s.counted
	err = s.UnderLoad(ctx, s.High, func(ctx context.Context) error { return s.awaitWarning(ctx, t) })
	if err != nil {
		return err
	}
	if s.raised, err = s.MeasureBeside(ctx, t, "with YARN", s.High, s.numbers); err != nil {
		return err
	}
	if s.counted, err = s.ask(ctx); err != nil { // containers that were started since may have been warned, too
		return err
	}
	if err := s.showNode(ctx, t); err != nil {
		return err
	}
	if _, err := t.Koordctl(ctx, "explain", "node", t.Node.Name, "batch-cpu"); err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "explain", "node", t.Node.Name, "containers")
	return err
}

// awaitWarning waits until YARN may use less than its containers do, and these fit again.
func (s *story) awaitWarning(ctx context.Context, t *tutorial.Session) error {
	if err := s.awaitLess(ctx, t); err != nil {
		return err
	}
	if err := s.showNode(ctx, t); err != nil {
		return err
	}
	err := t.Await(ctx, "containers to end", service.StartWithin, func(ctx context.Context) error {
		if err := s.look(ctx); err != nil {
			return err
		}
		return s.fits()
	})
	if err != nil {
		return err
	}
	s.shrunk = s.node.vcores()
	t.Show("curl -s "+s.master, written(s.counted))
	return nil
}

// look asks the ResourceManager and the job.
func (s *story) look(ctx context.Context) (err error) {
	if s.node, err = s.manager.node(ctx); err != nil {
		return err
	}
	s.counted, err = s.ask(ctx)
	return err
}

// mayShrink returns an error unless YARN can have so much less that it is a change, and that containers do not fit.
func (s *story) mayShrink() error {
	if now, used := s.node.vcores(), s.node.UsedVCores; now < leftVCores+leastChange || used <= leftVCores {
		return fmt.Errorf("containers use %d vcores, and may use %d", used, now)
	}
	return nil
}

// shrank returns an error unless YARN may use less than before, and less than its containers used.
func (s *story) shrank() error {
	if now := s.node.vcores(); now > s.before-leastChange || now >= s.used {
		return fmt.Errorf("YARN may use %d vcores, and %d before the service needed more, when containers used %d", now, s.before, s.used)
	}
	return nil
}

// fits returns an error unless containers use no more than they may.
func (s *story) fits() error {
	if s.node.FreeVCores < 0 {
		return fmt.Errorf("containers use %d vcores, and may use %d", s.node.UsedVCores, s.node.vcores())
	}
	return nil
}

func (s *story) seenRaised() string {
	return fmt.Sprintf("YARN went from %d to %d vcores, and the job from %d to %d containers. It was warned of %d; %d of its containers "+
		"did not end by themselves. It went from %.1f to %.1f thousand numbers a second. The p99 is %s, %s of what it is with the engine paused.",
		s.before, s.shrunk, s.countedBefore.Containers, s.counted.Containers, s.counted.Warned-s.countedBefore.Warned,
		s.counted.Killed-s.countedBefore.Killed, s.together.Progress/thousand, s.raised.Progress/thousand, service.Milliseconds(s.raised.P99),
		s.raised.Slower()) + s.remark()
}

// gaveWay returns an error unless YARN had less than containers used, and the job was warned. How many containers it has is not compared: between
// two pieces it has fewer.
func (s *story) gaveWay(context.Context, *tutorial.Session) error {
	var errs []error
	if s.shrunk >= s.used {
		errs = append(errs, fmt.Errorf("YARN may use %d vcores, and containers used %d", s.shrunk, s.used))
	}
	if s.counted.Warned <= s.countedBefore.Warned {
		errs = append(errs, errors.New("the job was not warned"))
	}
	return errors.Join(errs...)
}

func (s *story) lowerLoad(ctx context.Context, t *tutorial.Session) (err error) {
	if s.limited {
		if err := setThreshold(ctx, t, s.threshold); err != nil {
			return err
		}
	}
	s.before = s.shrunk
	err = s.UnderLoad(ctx, service.Low, func(ctx context.Context) error {
		return s.AwaitOffer(ctx, t, "YARN to have more", func(ctx context.Context) error {
			if err := s.look(ctx); err != nil {
				return err
			}
			if now := s.node.vcores(); now < s.before+leastChange {
				return fmt.Errorf("YARN may use %d vcores, and might use %d", now, s.before)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if s.lowered, err = s.MeasureBeside(ctx, t, "with YARN, afterwards", service.Low, s.numbers); err != nil {
		return err
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	if err := s.showNode(ctx, t); err != nil {
		return err
	}
	return s.finish(ctx, t)
}

func (s *story) seenLowered() string {
	return fmt.Sprintf("YARN went from %d to %d vcores, and the job from %.1f to %.1f thousand numbers a second. The p99 is %s. The job has ended: %s. "+
		"%d of the %d numbers that it looked at are primes, as a sieve finds, too: nothing was lost or counted twice.",
		s.before, s.node.vcores(), s.raised.Progress/thousand, s.lowered.Progress/thousand, service.Milliseconds(s.lowered.P99), s.ended.FinalStatus,
		s.counted.Primes, s.counted.Numbers) + s.Remark()
}

// summarize says all figures in one table.
func (s *story) summarize(_ context.Context, t *tutorial.Session) error {
	t.Table(service.Table("THOUSAND NUMBERS/S", 1.0/thousand, s.AloneLow, s.AloneHigh, s.together, s.raised, s.lowered))
	return nil
}

// recovered returns an error unless the job has counted every number once.
func (s *story) recovered(context.Context, *tutorial.Session) error {
	if s.lowered.Progress <= 0 {
		return errors.New("the job counts nothing anymore")
	}
	return s.complete()
}

// complete compares what the job has counted with a sieve.
func (s *story) complete() error {
	if s.ended.FinalStatus != "SUCCEEDED" {
		return fmt.Errorf("application %s ended with %s: %s", s.ended.ID, s.ended.FinalStatus, s.ended.Diagnostics)
	}
	if err := json.Unmarshal([]byte(s.ended.Diagnostics), &s.counted); err != nil {
		return fmt.Errorf("read what the job has counted from %q: %w", s.ended.Diagnostics, err)
	}
	if numbers := int64(s.counted.End - s.counted.First); s.counted.Numbers != numbers {
		return fmt.Errorf("the job has looked at %d of %d numbers", s.counted.Numbers, numbers)
	}
	if want := primesIn(s.counted.First, s.counted.End); s.counted.Primes != want {
		return fmt.Errorf("the job has counted %d primes, and there are %d", s.counted.Primes, want)
	}
	return nil
}
