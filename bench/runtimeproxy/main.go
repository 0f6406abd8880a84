// Command runtimeproxy measures what koord-runtime-proxy adds to calls of a container runtime: each call is made directly and through
// the proxy in turn, at a fixed rate, to a runtime that answers at once. Runtime, proxy and server of hooks are processes of their own.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func main() {
	program := flag.String("koord-runtime-proxy", "bin/koord-runtime-proxy", "Program to measure")
	rate := flag.Int("rate", 100, "Calls per second, half of them direct")
	count := flag.Int("count", 1000, "Calls of each kind, direct and through the proxy each")
	hooks := flag.String("hooks", "none,answering,away", "What servers of hooks there are, each measured in turn")
	role := flag.String("role", "", "For the processes that this one starts")
	socket := flag.String("socket", "", "For the processes that this one starts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch *role {
	case "":
		err = measure(ctx, *program, strings.Split(*hooks, ","), *rate, *count)
	default:
		err = play(ctx, *role, *socket)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// measure prints a table: what calls take, and what of that the proxy adds.
func measure(ctx context.Context, program string, servers []string, rate, count int) error {
	directory, err := os.MkdirTemp("", "bench-rp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "hooks\tcall\tdirect p50\tdirect p99\tproxy p50\tproxy p99\tadded p50\tadded p99\n")
	for _, hooks := range servers {
		if err := with(ctx, filepath.Join(directory, hooks), program, hooks, func(direct, proxied runtimeapi.RuntimeServiceClient) error {
			for _, call := range calls {
				a, b, err := compare(ctx, call, direct, proxied, rate, count)
				if err != nil {
					return fmt.Errorf("%s: %w", call.name, err)
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", hooks, call.name, at(a, 50), at(a, 99), at(b, 50), at(b, 99), at(b, 50)-at(a, 50), at(b, 99)-at(a, 99))
			}
			return nil
		}); err != nil {
			return fmt.Errorf("hooks %s: %w", hooks, err)
		}
	}
	return table.Flush()
}

// compare makes a call directly and through the proxy in turn, so that both meet the machine in the same state.
func compare(ctx context.Context, c call, direct, proxied runtimeapi.RuntimeServiceClient, rate, count int) (a, b []time.Duration, err error) {
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	defer ticker.Stop()
	const warm = 20
	for i := range 2 * (count + warm) {
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
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
			return nil, nil, err
		}
		if i >= 2*warm {
			*samples = append(*samples, took)
		}
	}
	slices.Sort(a)
	slices.Sort(b)
	return a, b, nil
}

// at a percentile of sorted samples.
func at(samples []time.Duration, percentile int) time.Duration {
	return samples[min(len(samples)*percentile/100, len(samples)-1)].Round(time.Microsecond)
}

func dial(socket string) (runtimeapi.RuntimeServiceClient, func() error, error) {
	connection, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		return nil, nil, err
	}
	return runtimeapi.NewRuntimeServiceClient(connection), connection.Close, nil
}
