package tutorial

import (
	"context"
	"errors"
	"fmt"
)

// Play carries the steps of a tutorial out, and prints them. Its record ends with the step that failed, where one did. What the steps
// wanted undone is undone in any case.
func (s *Session) Play(ctx context.Context, t Tutorial) (record Record, err error) {
	s.record = Record{Tutorial: t}
	defer func() {
		err = errors.Join(err, s.undoAll(ctx))
		record = s.record
	}()
	s.printIntro(t)
	for i, step := range t.Steps {
		s.record.Done = append(s.record.Done, Done{Title: step.Title, Text: step.Text})
		s.printStep(i+1, step)
		if err := s.carryOut(ctx, step); err != nil {
			return s.record, fmt.Errorf("step %d of tutorial %q, %q: %w", i+1, t.Name, step.Title, err)
		}
	}
	return s.record, nil
}

func (s *Session) carryOut(ctx context.Context, step Step) error {
	if step.Do != nil {
		if err := step.Do(ctx, s); err != nil {
			return err
		}
	}
	if step.Holds != nil {
		if err := step.Holds(ctx, s); err != nil {
			return err
		}
	}
	if step.Seen != nil {
		seen := step.Seen()
		s.record.Done[len(s.record.Done)-1].Seen = seen
		s.printText(seen)
	}
	return nil
}
