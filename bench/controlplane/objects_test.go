package controlplane

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestEveryIndexIsWorkedOnOnce(t *testing.T) {
	var seen [100]atomic.Int32
	err := SideBySide(t.Context(), len(seen), func(_ context.Context, i int) error {
		seen[i].Add(1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range seen {
		if times := seen[i].Load(); times != 1 {
			t.Errorf("index %d was worked on %d times", i, times)
		}
	}
}

func TestTheFirstErrorEndsTheWork(t *testing.T) {
	wantErr := errors.New("refused")
	var calls atomic.Int32
	err := SideBySide(t.Context(), 100000, func(ctx context.Context, i int) error {
		calls.Add(1)
		if i == 3 {
			return wantErr
		}
		return context.Cause(ctx)
	})
	if !errors.Is(err, wantErr) || calls.Load() == 100000 {
		t.Errorf("error %v after %d calls, want %v before the last", err, calls.Load(), wantErr)
	}
}
