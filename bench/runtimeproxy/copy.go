package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// copying is the name under which a program is measured that copies bytes and looks at none: no proxy can add less on the machine.
const copying = "copying"

// copyBytes carries what comes to one socket to another, and back, until the context ends.
func copyBytes(ctx context.Context, from, to string) error {
	listener, err := net.Listen("unix", from)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	defer group.Wait()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() }) // which ends Accept
	defer stop()
	for {
		caller, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		group.Go(func() { carry(ctx, caller, to) })
	}
}

// carry one connection. A socket that is not there yet ends it, and the caller comes again.
func carry(ctx context.Context, caller net.Conn, to string) {
	runtime, err := new(net.Dialer).DialContext(ctx, "unix", to)
	if err != nil {
		_ = caller.Close()
		return
	}
	end := func() { _ = errors.Join(caller.Close(), runtime.Close()) } // what ends first ends the other
	stop := context.AfterFunc(ctx, end)
	defer stop()
	var group sync.WaitGroup
	for _, way := range [][2]net.Conn{{caller, runtime}, {runtime, caller}} {
		group.Go(func() {
			_, _ = io.Copy(way[1], way[0]) // until either ends
			end()
		})
	}
	group.Wait()
}
