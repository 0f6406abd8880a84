// Command nri measures what the node agent adds to the start of a container by NRI: each pod is run in turn by a runtime that has the
// agent's plugin and by one that has none. The runtimes are the library that containerd and CRI-O are built with, the connection is a
// socket as theirs, and the plugin, what it decides by and what writes cgroups are the agent's own, which meanwhile does its rounds over
// the pods that are there. It runs in the kernel's cgroups as root, and in a model of them for everybody else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/koordlet"
	"koordinator.sh/koord/sandbox/workload"
)

// target is what the agent may add to the start of a container, at the 99th percentile.
const target = 2 * time.Millisecond

// leastStarts are as many as a 99th percentile says anything of.
const leastStarts = 200

type options struct {
	starts, pods, rate int
	kernel             bool
	stateDirectory     string
}

func main() {
	o := options{}
	flag.IntVar(&o.starts, "starts", 500, "pods to start by either runtime, at least 200")
	flag.IntVar(&o.pods, "pods", 50, "pods of two containers that run already")
	flag.IntVar(&o.rate, "rate", 20, "starts per second")
	flag.BoolVar(&o.kernel, "kernel", os.Geteuid() == 0, "use the kernel's cgroups; a model of them otherwise")
	flag.StringVar(&o.stateDirectory, "state-dir", "", "directory on the disk that the agent's state is kept on; a temporary one by default")
	flag.Parse()
	klog.SetLogger(logr.Discard())
	koordlet.SetGC()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.starts < leastStarts || o.rate < 1 || o.pods < 0 {
		return fmt.Errorf("-starts must be %d or more, -rate 1 or more, -pods 0 or more", leastStarts)
	}
	with, without, err := measure(ctx, o)
	if err != nil {
		return err
	}
	where := "a model of cgroups"
	if o.kernel {
		where = "the kernel's cgroups"
	}
	fmt.Printf("%d starts beside %d pods, in %s\n", o.starts, o.pods, where)
	return report(os.Stdout, with, without)
}

// measure starts pods by a runtime with the plugin and by one without, in turn, so that both meet the machine in the same state.
func measure(ctx context.Context, o options) (with, without *timings, err error) {
	m, err := newMachine(o)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	a, err := startAgent(ctx, o, m)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	hooked, plain, stop, err := startRuntimes(ctx, m, a)
	if err != nil {
		return nil, nil, err
	}
	defer stop()
	with, without = &timings{}, &timings{}
	ticker := time.NewTicker(time.Second / time.Duration(o.rate))
	defer ticker.Stop()
	const warm = 20
	for i := range o.starts + warm {
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-ticker.C:
		}
		for _, turn := range []struct {
			by *runtime
			to *timings
		}{{plain, without}, {hooked, with}} {
			to := turn.to
			if i < warm {
				to = &timings{}
			}
			if err := turn.by.start(ctx, fmt.Sprintf("start-%06d", i), to); err != nil {
				return nil, nil, err
			}
		}
	}
	return with, without, nil
}

// timings of starts, in the order of the starts.
type timings struct{ run, create, start []time.Duration }

// sum of times, start by start.
func sum(parts ...[]time.Duration) []time.Duration {
	out := make([]time.Duration, len(parts[0]))
	for _, part := range parts {
		for i := range part {
			out[i] += part[i]
		}
	}
	return out
}

// rows of the table. The target is for the start of a container; that of a sandbox comes once for each pod.
func (t *timings) rows() map[string]workload.Summary {
	return map[string]workload.Summary{
		"RunPodSandbox": workload.Summarize(sum(t.run)), "CreateContainer": workload.Summarize(sum(t.create)),
		"StartContainer": workload.Summarize(sum(t.start)), containerRow: workload.Summarize(sum(t.create, t.start)),
		"pod of one container": workload.Summarize(sum(t.run, t.create, t.start)),
	}
}
