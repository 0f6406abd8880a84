package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	// askTimeout bounds one question.
	askTimeout = 20 * time.Second
	// askOnceTimeout bounds one that is not asked again by itself: a source waits half a minute for koord-scheduler, and then still answers
	// what is known without it.
	askOnceTimeout = 45 * time.Second
	// A question whose answer takes longer than restAfter is not asked at every refresh: it rests restFactor times as long as the answer took
	// beyond that, and at most restLimit. Lists of a large cluster take up to seconds of this program and of the API server, which are to be a
	// few percent of their time when nobody types.
	restAfter  = 50 * time.Millisecond
	restFactor = 60
	restLimit  = 2 * time.Minute
	// skeletonDelay keeps a view blank before it admits to be waiting, so that quick answers do not flicker.
	skeletonDelay = 150 * time.Millisecond
)

// feedState is what every feed has, whatever it asks for.
type feedState struct {
	// question in force; a different one drops the answer to the one before.
	question string
	// generation of the latest question.
	generation uint64
	// known is true once the question was answered.
	known bool
	// at is when the answer came.
	at time.Time
	// asked is when the latest question came.
	asked time.Time
	// took is how long the latest answer took.
	took time.Duration
	busy bool
	// err of the latest answer; nil when it succeeded.
	err    error
	cancel context.CancelFunc
}

// feed asks one question again and again and keeps the last answer.
type feed[T any] struct {
	feedState
	value T
	// accepted is called with every answer that was waited for, failed ones included. It may be nil.
	accepted func(answer[T])
}

// answer is a message with what a question brought.
type answer[T any] struct {
	to         *feed[T]
	generation uint64
	value      T
	err        error
	at         time.Time
}

// delivery is an answer to any question.
type delivery interface{ deliver() }

// deliver gives the answer to the feed that asked. One that it does not wait for any more is dropped.
func (a answer[T]) deliver() {
	if a.to.accept(a) && a.to.accepted != nil {
		a.to.accepted(a)
	}
}

// ask returns the command that asks. While the same question is under way, or rests, nothing is asked again.
func ask[T any](m *Model, f *feed[T], question string, fetch func(context.Context) (T, error)) tea.Cmd {
	return askWithin(m, f, askTimeout, question, fetch)
}

// askWithin is ask for a question that takes longer to answer.
func askWithin[T any](m *Model, f *feed[T], timeout time.Duration, question string, fetch func(context.Context) (T, error)) tea.Cmd {
	if f.question == question && (f.busy || f.rests(m.clock.Now()) && !m.forced) {
		return nil
	}
	if f.question != question {
		f.drop()
		f.question = question
	}
	m.generation++
	ctx, cancel := context.WithTimeout(m.ctx, timeout)
	f.generation, f.busy, f.cancel, f.asked = m.generation, true, cancel, m.clock.Now()
	generation, clk := f.generation, m.clock
	fetchCmd := func() tea.Msg {
		defer cancel()
		value, err := fetch(ctx)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
			err = fmt.Errorf("no response within %s: %w", timeout, err)
		}
		return answer[T]{to: f, generation: generation, value: value, err: err, at: clk.Now()}
	}
	if f.known {
		return fetchCmd
	}
	return tea.Batch(fetchCmd, m.after(skeletonDelay, skeletonMsg{}))
}

// drop forgets the question and its answer, and stops asking.
func (f *feed[T]) drop() {
	if f.cancel != nil {
		f.cancel()
	}
	*f = feed[T]{accepted: f.accepted}
}

// accept takes an answer; false when it belongs to an older question. A failed answer keeps the value before it.
func (f *feed[T]) accept(a answer[T]) bool {
	if a.generation != f.generation {
		return false
	}
	f.busy, f.err, f.cancel, f.took = false, a.err, nil, a.at.Sub(f.asked)
	if a.err == nil {
		f.value, f.at, f.known = a.value, a.at, true
	}
	return true
}

// rest is how long the question is not asked again after its answer.
func (s *feedState) rest() time.Duration {
	return min(restFactor*max(s.took-restAfter, 0), restLimit)
}

// rests is true where the answer is too young to be asked for again. One that failed is asked for at every refresh.
func (s *feedState) rests(now time.Time) bool {
	return s.known && s.err == nil && s.age(now) < s.rest()
}

// pace is how often a question is asked.
func (m *Model) pace(s *feedState) time.Duration { return max(m.interval, s.rest()) }

// age of the answer.
func (s *feedState) age(now time.Time) time.Duration {
	if !s.known {
		return 0
	}
	return now.Sub(s.at)
}

// skeleton reports whether the wait is long enough to be shown.
func (s *feedState) skeleton(now time.Time) bool {
	return !s.known && s.busy && now.Sub(s.asked) >= skeletonDelay
}
