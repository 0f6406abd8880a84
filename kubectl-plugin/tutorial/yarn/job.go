package yarn

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

// finishWithin bounds how long the job takes for the pieces that it has begun.
const finishWithin = 5 * time.Minute

// count is what the master of the job says.
type count struct {
	// First and End are the range of the pieces that were begun, without End.
	First int `json:"first"`
	End   int `json:"end"`
	// Numbers that were looked at, and the primes among them.
	Numbers int64 `json:"numbers"`
	Primes  int   `json:"primes"`
	// Containers that run, and those that were killed and warned of so far.
	Containers int `json:"containers"`
	Killed     int `json:"killed"`
	Warned     int `json:"warned"`
}

// submit runs the client of the job.
func (s *story) submit(ctx context.Context, t *tutorial.Session) error {
	address := s.address + ":8032"
	args := append([]string{"-Xmx128m"}, options...)
	args = append(args, "-cp", filepath.Join(s.jars, "*"), "Primes", "submit", address)
	said, err := t.Run(ctx, "java", "", args...)
	if err != nil {
		return fmt.Errorf("submit the job: %w", err)
	}
	t.Show("yarn jar tutorial.jar Primes submit "+address, said)
	if _, s.job, _ = strings.Cut(strings.TrimSpace(said), "submitted "); s.job == "" {
		return fmt.Errorf("the client of the job said %q", said)
	}
	return t.Await(ctx, "the job to count", service.StartWithin, func(ctx context.Context) error {
		app, err := s.manager.application(ctx, s.job)
		if err != nil {
			return err
		}
		s.master = "http://" + app.RPC
		if app.State != "RUNNING" {
			return fmt.Errorf("application %s is %s: %s", s.job, app.State, app.Diagnostics)
		}
		if done, err := s.numbers(ctx); err != nil || done == 0 {
			return errors.Join(err, errors.New("it has counted nothing"))
		}
		return nil
	})
}

// ask asks the master of the job how far it is.
func (s *story) ask(ctx context.Context) (now count, err error) {
	return now, get(ctx, s.master+"/", &now)
}

// numbers that the job has looked at.
func (s *story) numbers(ctx context.Context) (int64, error) {
	now, err := s.ask(ctx)
	return now.Numbers, err
}

// finish has the job end with the pieces that it has begun, and reads what it has counted.
func (s *story) finish(ctx context.Context, t *tutorial.Session) error {
	var asked count
	if err := get(ctx, s.master+"/finish", &asked); err != nil {
		return err
	}
	t.Show("curl -s "+s.master+"/finish", written(asked))
	return t.Await(ctx, "the job to finish the pieces that it has begun", finishWithin, func(ctx context.Context) error {
		app, err := s.manager.application(ctx, s.job)
		if err != nil {
			return err
		}
		s.ended = app
		if app.State != "FINISHED" {
			return fmt.Errorf("application %s is %s", app.ID, app.State)
		}
		return nil
	})
}

// primesIn counts the primes from one number to another one, without that, by a sieve.
func primesIn(first, end int) (found int) {
	if end <= first {
		return 0
	}
	composite := make([]bool, end-first)
	for divisor := 2; divisor <= (end-1)/divisor; divisor++ {
		for multiple := max((first+divisor-1)/divisor, divisor) * divisor; multiple < end; multiple += divisor {
			composite[multiple-first] = true
		}
	}
	for i, is := range composite {
		if !is && first+i > 1 {
			found++
		}
	}
	return found
}
