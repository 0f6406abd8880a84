package workload

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// clientTimeout is how long a request may take. One that takes longer counts as an error: the service is then out of order.
const clientTimeout = 30 * time.Second

// Send sends requests to a URL at a rate per second for a time, whether or not the ones before were answered, and returns how long they
// took from the moment at which each was due: a request that could not be sent in time was slow for its client. The times between them are
// exponentially distributed, as those of many clients are, and the same in each call: requests at equal intervals would keep step with the
// periods of the kernel, and meet always or never what happens once in each. What was seen until ctx ended is returned with its error.
func Send(ctx context.Context, target string, rate float64, duration time.Duration) ([]time.Duration, error) {
	client := &http.Client{Timeout: clientTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		took  []time.Duration
		first error
	)
	between := rand.New(rand.NewPCG(1, 1))
	for began, after := time.Now(), time.Duration(0); after < duration; after += time.Duration(between.ExpFloat64() / rate * float64(time.Second)) {
		due := began.Add(after)
		if err := until(ctx, due); err != nil {
			group.Wait()
			return took, err
		}
		group.Go(func() {
			err := request(ctx, client, target)
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(due))
			if err != nil && first == nil {
				first = err
			}
		})
	}
	group.Wait()
	return took, first
}

func until(ctx context.Context, due time.Time) error {
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func request(ctx context.Context, client *http.Client, target string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was read to the end
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the service answered %s", response.Status)
	}
	return nil
}
