// Command runtimeproxy measures what koord-runtime-proxy adds to calls of a container runtime: each call is made directly and through
// the proxy in turn, at a fixed rate, to a runtime that answers at once. Runtime, proxy and hook server are separate processes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"koordinator.sh/koord/sandbox/workload"
)

// What the proxy may add to a call of one short message and its answer while no server of hooks is asked.
const (
	mostP50 = 80 * time.Microsecond
	mostP99 = 400 * time.Microsecond
)

func main() {
	program := flag.String("koord-runtime-proxy", "bin/koord-runtime-proxy", "Program to measure")
	rate := flag.Int("rate", 100, "Calls per second, half of them direct")
	count := flag.Int("count", 1000, "Calls of each kind, direct and through the proxy each")
	hooks := flag.String("hooks", copying+",none,answering,away", "What servers of hooks there are, each measured in turn; copying is another program that only copies bytes")
	role := flag.String("role", "", "For the processes that this one starts")
	socket := flag.String("socket", "", "For the processes that this one starts")
	to := flag.String("to", "", "For the processes that this one starts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch *role {
	case "":
		err = measure(ctx, *program, strings.Split(*hooks, ","), *rate, *count)
	case copying:
		err = copyBytes(ctx, *socket, *to)
	default:
		err = play(ctx, *role, *socket)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// measure prints a table: what calls take, and what of that the proxy adds. It fails when that is more than it may be.
func measure(ctx context.Context, program string, servers []string, rate, count int) error {
	directory, err := os.MkdirTemp("", "bench-rp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "hooks\tcall\tdirect p50\tdirect p99\tproxy p50\tproxy p99\tadded p50\tadded p99\n")
	var own added
	for _, hooks := range servers {
		if err := with(ctx, filepath.Join(directory, hooks), program, hooks, func(direct, proxied runtimeapi.RuntimeServiceClient) error {
			for _, call := range calls {
				a, b, err := compare(ctx, call, direct, proxied, rate, count)
				if err != nil {
					return fmt.Errorf("%s: %w", call.name, err)
				}
				p50, p99 := b.P50-a.P50, b.P99-a.P99
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", hooks, call.name, micro(a.P50), micro(a.P99), micro(b.P50), micro(b.P99), micro(p50), micro(p99))
				if hooks == "none" && !call.long {
					own = added{measured: true, p50: max(own.p50, p50), p99: max(own.p99, p99)}
				}
			}
			return nil
		}); err != nil {
			return fmt.Errorf("hooks %s: %w", hooks, err)
		}
	}
	return errors.Join(table.Flush(), own.verdict(os.Stdout))
}

// added by the proxy to the call that it adds most to.
type added struct {
	measured bool
	p50, p99 time.Duration
}

// verdict prints whether the bounds were kept, and is an error when they were not.
func (a added) verdict(out io.Writer) error {
	if !a.measured {
		return nil
	}
	var problems []error
	for _, bound := range []struct {
		name       string
		is, atMost time.Duration
	}{{"p50", a.p50, mostP50}, {"p99", a.p99, mostP99}} {
		verdict := "reached"
		if bound.is > bound.atMost {
			verdict = "MISSED"
			problems = append(problems, fmt.Errorf("the bound of %s is missed", bound.name))
		}
		fmt.Fprintf(out, "added without hooks, %s: %s, %.2fx of at most %s: %s\n", bound.name, micro(bound.is), float64(bound.is)/float64(bound.atMost), bound.atMost, verdict)
	}
	return errors.Join(problems...)
}

// compare makes a call directly and through the proxy in turn, so that both meet the machine in the same state.
func compare(ctx context.Context, c call, direct, proxied runtimeapi.RuntimeServiceClient, rate, count int) (without, through workload.Summary, err error) {
	var a, b []time.Duration
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	defer ticker.Stop()
	const warm = 20
	for i := range 2 * (count + warm) {
		select {
		case <-ctx.Done():
			return without, through, ctx.Err()
		case <-ticker.C:
		}
		client, samples := direct, &a
		if i%2 == 1 {
			client, samples = proxied, &b
		}
		began := time.Now()
		err := c.make(ctx, client)
		took := time.Since(began)
		if err != nil {
			return without, through, err
		}
		if i >= 2*warm {
			*samples = append(*samples, took)
		}
	}
	return workload.Summarize(a), workload.Summarize(b), nil
}

func micro(d time.Duration) string { return d.Round(time.Microsecond).String() }

func dial(socket string) (runtimeapi.RuntimeServiceClient, func() error, error) {
	connection, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		return nil, nil, err
	}
	return runtimeapi.NewRuntimeServiceClient(connection), connection.Close, nil
}
