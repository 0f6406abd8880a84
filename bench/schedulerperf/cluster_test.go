package schedulerperf

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	perf "k8s.io/kubernetes/test/integration/scheduler_perf"
	"k8s.io/kubernetes/test/utils/ktesting"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/scheduler/app"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// waitTimeout is how long a cluster may take to get ready, and to come to rest.
const waitTimeout = time.Minute

// Parameters of a workload that are not the engine's. Without them they are 0.
const (
	// hotParameter is how many of 100 nodes are so loaded that no pod may go there.
	hotParameter = "hotPercent"
	// reservedParameter is how many pods must find themselves on reserved room.
	reservedParameter = "reserved"
)

// cluster is the one of a workload.
type cluster struct {
	embedded *app.Embedded
	workload *perf.Workload
	reporter *reporter
	reserved int
}

// update follows the creation of nodes: the scheduler gets what plugins alone do not give it, the nodes report their use, and
// what the workload created before is waited for. A workload creates all its nodes at once.
func (c *cluster) update(tCtx ktesting.TContext, scheduler *kubescheduler.Scheduler, nodes *corev1.NodeList) error {
	if c.reporter != nil {
		return fmt.Errorf("workload %s creates nodes twice", c.workload.Name)
	}
	c.reporter = &reporter{objects: tCtx.Dynamic(), hot: c.parameter(hotParameter)}
	c.reserved = c.parameter(reservedParameter)
	for i := range nodes.Items {
		if err := c.reporter.create(tCtx, &nodes.Items[i], i); err != nil {
			return err
		}
	}
	// The scheduler is extended when nothing is on its way to it any more.
	if err := poll(tCtx, func(context.Context) error { return knows(scheduler, len(nodes.Items)) }); err != nil {
		return err
	}
	if err := c.embedded.Attach(tCtx, scheduler); err != nil {
		return err
	}
	if err := c.start(tCtx, nodes); err != nil {
		return err
	}
	return poll(tCtx, func(ctx context.Context) error { return allAvailable(ctx, tCtx) })
}

// parameter returns 0 for what the workload does not say.
func (c *cluster) parameter(name string) int {
	value, err := c.workload.GetParam(name)
	if err != nil {
		return 0
	}
	return value
}

// start runs the controllers and the reports until the workload is over, and judges the cluster before.
func (c *cluster) start(tCtx ktesting.TContext, nodes *corev1.NodeList) error {
	configuration, err := app.DefaultConfiguration()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(tCtx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.embedded.Run(ctx, configuration.Profiles); err != nil {
			tCtx.Errorf("koord-scheduler's controllers: %v", err)
		}
	})
	running.Go(func() {
		if err := c.reporter.run(ctx, nodes.Items); err != nil {
			tCtx.Errorf("report the use of nodes: %v", err)
		}
	})
	tCtx.Cleanup(func() { // when the engine is done, and the API server still runs
		defer running.Wait()
		defer cancel()
		if err := poll(tCtx, func(ctx context.Context) error { return c.judge(ctx, tCtx) }); err != nil {
			tCtx.Errorf("workload %s: the cluster that came of it must not be: %v", c.workload.Name, err)
		}
	})
	return c.embedded.Settle(tCtx)
}

// poll asks until there is no error, and returns the last one when that takes too long.
func poll(ctx context.Context, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, waitTimeout, true, func(context.Context) (bool, error) {
		last = check(ctx) // not with the context of the wait, whose end would be the last error
		return last == nil, nil
	})
	if err != nil && last != nil {
		return last
	}
	return err
}

func knows(scheduler *kubescheduler.Scheduler, nodes int) error {
	if known := scheduler.Cache.NodeCount(); known != nodes {
		return fmt.Errorf("the scheduler knows %d of %d nodes", known, nodes)
	}
	return nil
}

// allAvailable is nil when every Reservation has its room.
func allAvailable(ctx context.Context, tCtx ktesting.TContext) error {
	list, err := tCtx.Dynamic().Resource(reservations.Resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list Reservations: %w", err)
	}
	var waiting []string
	for i := range list.Items {
		phase, _, _ := unstructured.NestedString(list.Items[i].Object, "status", "phase") // none is not available
		if phase != string(schedulingv1alpha1.ReservationAvailable) {
			waiting = append(waiting, list.Items[i].GetName())
		}
	}
	if len(waiting) > 0 {
		return fmt.Errorf("%d Reservations wait for room: %s", len(waiting), strings.Join(waiting[:min(3, len(waiting))], ", "))
	}
	return nil
}
