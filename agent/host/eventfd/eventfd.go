// Package eventfd has poll return when a context ends.
package eventfd

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"
)

// Done is a descriptor that becomes readable when a context ends.
type Done struct {
	descriptor int
	// written is closed after the descriptor was written; stop prevents that, or is false.
	written chan struct{}
	stop    func() bool
}

// NewDone returns a Done that is to be closed.
func NewDone(ctx context.Context) (*Done, error) {
	descriptor, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make an eventfd: %w", err)
	}
	d := &Done{descriptor: descriptor, written: make(chan struct{})}
	d.stop = context.AfterFunc(ctx, func() {
		defer close(d.written)
		_, _ = unix.Write(descriptor, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // a counter of zero takes it
	})
	return d, nil
}

// Descriptor to poll for input.
func (d *Done) Descriptor() int { return d.descriptor }

// Close may be called once. The context may end at the same time.
func (d *Done) Close() {
	if !d.stop() {
		<-d.written // another file may get the number of a closed descriptor at once
	}
	_ = unix.Close(d.descriptor) // nothing waits for it any more
}
