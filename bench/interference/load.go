package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"koordinator.sh/koord/sandbox/workload"
)

// patience is how long a request may take. One that takes longer counts as an error: the service is then out of order.
const patience = 30 * time.Second

// comeFirst lets every thread of this process run before others. Those who send requests to a service do so from other machines; here
// they share its CPUs, and must not wait for the job as the service does.
func comeFirst() error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("list the threads of this process: %w", err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return fmt.Errorf("thread %q: %w", thread.Name(), err)
		}
		// Threads that are made later are like those that make them.
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, id, highest); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("let thread %d come first: %w", id, err)
		}
	}
	return nil
}

// highest is the nice value of what comes first.
const highest = -20

// load sends requests at a rate, whether or not the ones before were answered, and says how long they took from the moment at
// which each was due: a request that could not be sent in time has been slow for whoever waited for it.
func load(ctx context.Context, target string, rate float64, duration time.Duration) (workload.Summary, error) {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		took  []time.Duration
		first error
	)
	began := time.Now()
	for i := 0; ; i++ {
		due := began.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if due.Sub(began) >= duration {
			break
		}
		if err := until(ctx, due); err != nil {
			group.Wait()
			return workload.Summary{}, err
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
	return workload.Summarize(took), first
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
