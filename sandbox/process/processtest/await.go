package processtest

import (
	"context"
	"os"
	"testing"
	"time"
)

// patience is how long a test waits for something that comes at once on an idle machine.
const patience = 20 * time.Second

// Await polls a condition until it holds.
func Await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx := Limited(t)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

// AwaitClosed waits for a channel to be closed.
func AwaitClosed(t *testing.T, what string, closed <-chan struct{}) {
	t.Helper()
	select {
	case <-closed:
	case <-Limited(t).Done():
		t.Fatalf("waited in vain for %s", what)
	}
}

// Limited is a context that ends before the test times out.
func Limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// Home is a directory with a path short enough for the sockets below it.
func Home(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("", "k")
	Must(t, err)
	t.Cleanup(func() { Must(t, os.RemoveAll(home)) })
	return home
}

// Must ends the test at an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
