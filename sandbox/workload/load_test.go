package workload

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSummaries(t *testing.T) {
	milliseconds := func(values ...int) (out []time.Duration) {
		for _, v := range values {
			out = append(out, time.Duration(v)*time.Millisecond)
		}
		return out
	}
	tests := map[string]struct {
		latencies []time.Duration
		want      Summary
	}{
		"none":           {},
		"one":            {milliseconds(7), Summary{1, 7e6, 7e6, 7e6}},
		"two":            {milliseconds(9, 1), Summary{2, 1e6, 9e6, 9e6}},
		"a hundred":      {milliseconds(upTo(100)...), Summary{100, 50e6, 99e6, 100e6}},
		"a hundred, one": {milliseconds(upTo(101)...), Summary{101, 51e6, 100e6, 101e6}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Summarize(tc.latencies)); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

func upTo(n int) []int {
	values := rand.New(rand.NewPCG(1, 2)).Perm(n)
	for i := range values {
		values[i]++
	}
	return values
}

// TestPercentilesAreWhatTheirNameSays counts for any latencies.
func TestPercentilesAreWhatTheirNameSays(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		seen := make([]time.Duration, 1+random.IntN(300))
		for i := range seen {
			seen[i] = time.Duration(random.IntN(50))
		}
		got := Summarize(slices.Clone(seen))
		for percent, latency := range map[int]time.Duration{50: got.P50, 99: got.P99} {
			below, upTo := 0, 0
			for _, l := range seen {
				if l < latency {
					below++
				}
				if l <= latency {
					upTo++
				}
			}
			if upTo*100 < percent*len(seen) || below*100 >= percent*len(seen) {
				t.Fatalf("p%d of %d = %d, which %d do not exceed, and %d are below", percent, len(seen), latency, upTo, below)
			}
		}
	}
}

func TestLoadsThatCannotBe(t *testing.T) {
	for want, load := range map[string]Load{
		"CPUs -1 must be":     {CPUs: -1, Report: 1},
		"memory -1 MiB must":  {MemoryMiB: -1, Report: 1},
		"CPU time per reques": {PerRequest: -1, Report: 1},
		"time between report": {},
		"serve requests: lis": {Address: "nowhere", Report: 1},
	} {
		if err := load.Run(t.Context(), io.Discard); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Run(%+v) = %v; want %q…", load, err, want)
		}
	}
}

// lockedBuffer is written to while it is read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestALoadServesAndReports polls it until it has reported a request, and ends it.
func TestALoadServesAndReports(t *testing.T) {
	address := freeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out lockedBuffer
	ended := make(chan error, 1)
	load := Load{CPUs: 0.01, MemoryMiB: 1, Address: address, PerRequest: time.Millisecond, Report: 5 * time.Millisecond}
	go func() { ended <- load.Run(ctx, &out) }()
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(out.String(), "\nrequests 1 ") {
		if time.Now().After(deadline) {
			t.Fatalf("it said %q; want that it served a request", out.String())
		}
		if response, err := http.Get("http://" + address); err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("answer = %s; want that it is OK", response.Status)
			}
		}
	}
	if want := "uses 0.01 CPUs and 1 MiB\nserves requests of 1ms CPU time on " + address + "\n"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("it said %q; want first %q", out.String(), want)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run() = %v; want nil", err)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
