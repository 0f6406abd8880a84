// Package eventually lets a test wait for a condition that another goroutine or process brings about: it polls, with a deadline.
package eventually

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Interval and Timeout of True. What is waited for usually takes milliseconds; the timeout is for machines that do much else.
const (
	Interval = 2 * time.Millisecond
	Timeout  = time.Minute
)

// Never polls a condition for a while, and fails the test as soon as it holds; what says what would be wrong.
func Never(t testing.TB, what string, while time.Duration, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), Interval, while, true, func(context.Context) (bool, error) { return holds(), nil })
	if err == nil {
		t.Fatal(what)
	}
}

// True polls until a condition holds, and fails the test where it does not within Timeout; what completes "timed out waiting until".
func True(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // cleanups wait, too
	err := wait.PollUntilContextTimeout(ctx, Interval, Timeout, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatalf("timed out waiting until %s: %v", what, err)
	}
}
