package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"
)

// Load is what a process is to use.
type Load struct {
	// CPUs to keep busy, in cores; 0 for none.
	CPUs float64
	// MemoryMiB to hold, in MiB; 0 for none.
	MemoryMiB int
	// Address to serve requests on; empty for none. Each costs PerRequest of CPU time.
	Address    string
	PerRequest time.Duration
	// Report is the time between two lines of output.
	Report time.Duration
}

func (l Load) validate() error {
	switch {
	case !(l.CPUs >= 0 && l.CPUs <= 1024): // in this form also for NaN
		return fmt.Errorf("CPUs %g must be between 0 and 1024", l.CPUs)
	case l.MemoryMiB < 0 || l.MemoryMiB > 1<<20:
		return fmt.Errorf("memory %d MiB must be between 0 and %d", l.MemoryMiB, 1<<20)
	case l.PerRequest < 0 || l.PerRequest > time.Minute:
		return fmt.Errorf("CPU time per request %s must be between 0s and 1m", l.PerRequest)
	case l.Report <= 0:
		return fmt.Errorf("time between reports %s must be more than 0s", l.Report)
	}
	return nil
}

// Run uses what the load says until ctx ends, and reports to out. It returns nil then, or an error when it cannot start.
func (l Load) Run(ctx context.Context, out io.Writer) error {
	if err := l.validate(); err != nil {
		return err
	}
	var listener net.Listener
	if l.Address != "" {
		var err error
		if listener, err = net.Listen("tcp", l.Address); err != nil {
			return fmt.Errorf("serve requests: %w", err)
		}
	}
	held := hold(l.MemoryMiB)
	// Each busy loop has its own thread, and the requests too.
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), int(math.Ceil(l.CPUs))+1))
	fmt.Fprintf(out, "uses %g CPUs and %d MiB\n", l.CPUs, l.MemoryMiB)
	group, ctx := errgroup.WithContext(ctx)
	for share := l.CPUs; share > 0; share-- {
		group.Go(func() error { return burn(ctx, min(1, share)) })
	}
	latencies := &latencies{}
	if listener != nil {
		fmt.Fprintf(out, "serves requests of %s CPU time on %s\n", l.PerRequest, listener.Addr())
		group.Go(func() error { return l.serve(ctx, listener, latencies) })
	}
	group.Go(func() error { return l.report(ctx, out, latencies) })
	err := group.Wait()
	runtime.KeepAlive(held)
	return err
}

// hold returns so many MiB of memory that really is the process's: every page is written once.
func hold(mebibytes int) []byte {
	held := make([]byte, mebibytes<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	// The collector would let the heap grow to twice of what is held.
	debug.SetMemoryLimit(int64(len(held)) + 32<<20)
	return held
}

// burnPeriod is the time over which a share of a CPU is used.
const burnPeriod = 20 * time.Millisecond

// burn keeps a share of one CPU busy, 0 to 1, until ctx ends.
func burn(ctx context.Context, share float64) error {
	tick := time.NewTicker(burnPeriod)
	defer tick.Stop()
	for {
		spend(time.Duration(share * float64(burnPeriod)))
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (l Load) serve(ctx context.Context, listener net.Listener, latencies *latencies) error {
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		began := time.Now()
		spend(l.PerRequest)
		took := time.Since(began)
		latencies.add(took)
		fmt.Fprintln(w, took)
	})}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve requests: %w", err)
	}
	return nil
}

func (l Load) report(ctx context.Context, out io.Writer, latencies *latencies) error {
	tick := time.NewTicker(l.Report)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			fmt.Fprintln(out, latencies.take())
		}
	}
}
