package eventfd

import (
	"context"
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// readable reports whether a descriptor has input within some milliseconds.
func readable(t *testing.T, descriptor, milliseconds int) bool {
	t.Helper()
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLIN}}, milliseconds)
		if err == nil {
			return n > 0
		}
		if !errors.Is(err, unix.EINTR) {
			t.Fatal(err)
		}
	}
}

func TestTheEndOfTheContextIsReadable(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done, err := NewDone(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer done.Close()
	if readable(t, done.Descriptor(), 0) {
		t.Error("it is readable before the context ends")
	}
	cancel()
	if !readable(t, done.Descriptor(), 60_000) {
		t.Error("it is not readable after the context ended")
	}
}

// TestNothingIsWrittenAfterClose ends contexts while their descriptors are closed: the next descriptor has the same number, and must not
// be written.
func TestNothingIsWrittenAfterClose(t *testing.T) {
	for range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		done, err := NewDone(ctx)
		if err != nil {
			t.Fatal(err)
		}
		number := done.Descriptor()
		cancel()
		done.Close()
		next, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			t.Fatal(err)
		}
		written := readable(t, next, 1)
		if err := unix.Close(next); err != nil {
			t.Fatal(err)
		}
		if written {
			t.Fatalf("descriptor %d was written after %d was closed", next, number)
		}
	}
}
