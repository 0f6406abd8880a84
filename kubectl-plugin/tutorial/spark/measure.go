package spark

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/sandbox/workload"
)

// story is what the steps share.
type story struct {
	// jars is the directory with Spark.
	jars string
	// target is the URL of the service.
	target string
	// other is what else runs on the machine, in percent of its CPU.
	other int
	// offer is the batch-cpu of the node when it was last looked at, and offerBefore before that changed, in thousandths of a core.
	offer, offerBefore int64
	// full is true where other programs kept the machine so busy that the offer could not follow.
	full      bool
	driver    *corev1.Pod
	executors []*corev1.Pod
	// Situations that were measured.
	aloneLow, aloneHigh, together, raised, lowered situation
}

// situation is what was measured.
type situation struct {
	name string
	// rate of the requests, per second.
	rate float64
	workload.Summary
	// used is the share of the machine's CPU time, 0 to 1.
	used float64
	// tasks that Spark did per second; 0 where it did not run.
	tasks float64
}

// Requests per second, of 5 ms of CPU time each, and how long each situation is measured after the time in which caches fill.
const (
	low, high = 50, 150
	measured  = 15 * time.Second
	warmUp    = 3 * time.Second
)

// measure sends requests to the service at a rate, and says what was seen meanwhile.
func (s *story) measure(ctx context.Context, t *tutorial.Session, name string, rate float64) (situation, error) {
	fmt.Fprintf(t.Progress, "   ... sending %g requests per second for %s\n", rate, warmUp+measured)
	got := situation{name: name, rate: rate}
	if err := workload.ComeFirst(false); err != nil {
		return got, err
	}
	if err := s.send(ctx, t, rate, warmUp, nil); err != nil {
		return got, err
	}
	tasksBefore, began, err := s.tasks(ctx, t)
	if err != nil {
		return got, err
	}
	before, err := workload.MachineCPUTime()
	if err != nil {
		return got, err
	}
	var took []time.Duration
	if err := s.send(ctx, t, rate, measured, &took); err != nil {
		return got, err
	}
	after, err := workload.MachineCPUTime()
	if err != nil {
		return got, err
	}
	tasksAfter, ended, err := s.tasks(ctx, t)
	if err != nil {
		return got, err
	}
	got.Summary, got.used = workload.Summarize(took), after.Since(before)
	got.tasks = float64(tasksAfter-tasksBefore) / ended.Sub(began).Seconds()
	return got, nil
}

// send sends requests. One that fails, as they do where the machine is too busy, was a slow one.
func (s *story) send(ctx context.Context, t *tutorial.Session, rate float64, duration time.Duration, into *[]time.Duration) error {
	took, err := workload.Send(ctx, s.target, rate, duration)
	if into != nil {
		*into = took
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(t.Progress, "   ... not all requests were answered: %v\n", err)
		return nil
	}
	return err
}

// tasks is how many tasks Spark has done so far, by what its driver says, and when it was asked. It is 0 where Spark does not run.
func (s *story) tasks(ctx context.Context, t *tutorial.Session) (done int64, at time.Time, err error) {
	if s.driver == nil {
		return 0, time.Now(), nil
	}
	logs, err := t.Run(ctx, t.KubectlPath, "", "logs", "-n", Namespace, s.driver.Name, "--tail=20")
	if err != nil {
		return 0, time.Now(), err
	}
	return lastCount(logs), time.Now(), nil
}

// lastCount is the figure of the last line of the driver that counts tasks; 0 where there is none.
func lastCount(logs string) (count int64) {
	for line := range strings.Lines(logs) {
		if figure, is := strings.CutPrefix(strings.TrimSpace(line), "tasks "); is {
			if n, err := strconv.ParseInt(figure, 10, 64); err == nil {
				count = n
			}
		}
	}
	return count
}

// look reads what the node offers.
func (s *story) look(ctx context.Context, t *tutorial.Session) error {
	var node corev1.Node
	if err := t.Ask(ctx, &node, "get", "node", t.Node.Name, "-o", "json"); err != nil {
		return err
	}
	offer := node.Status.Allocatable[extension.BatchCPU]
	s.offer = offer.Value()
	return nil
}

// underLoad does something while requests are sent to the service at a rate.
func (s *story) underLoad(ctx context.Context, rate float64, do func(context.Context) error) error {
	sending, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = workload.Send(sending, s.target, rate, time.Hour) // it ends when it is cancelled; what is measured is sent later
	}()
	err := do(ctx)
	cancel()
	<-ended
	return err
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// times is how many times as much the one is as the other.
func times(one, other float64) string {
	if other == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2fx", one/other)
}
