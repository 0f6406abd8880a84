package trino

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
)

const (
	// followWithin is how long a worker may take to be drained: what the node offers goes by averages over a minute, and fewer workers must
	// have been wanted for a while.
	followWithin = 200 * time.Second
	// drainWithin bounds what a drain takes: the rest of a query.
	drainWithin = 10 * time.Minute
)

// drain of a worker in the middle of a query.
type drain struct {
	// worker is the name of the pod, address that of its server.
	worker, address string
	// query is the ID of the one in the middle of which it was drained, tasks how many of its tasks the worker had then.
	query string
	tasks int
	// answered is what came of the query.
	answered ended
}

// awaitDrain waits until a worker is asked to shut down while it has tasks. Where other programs change what they use, what the node offers
// need not follow the service: a worker less is asked for then.
func (s *story) awaitDrain(ctx context.Context, t *tutorial.Session) error {
	find := func(ctx context.Context) error { return s.lookForDrain(ctx, t) }
	err := t.Await(ctx, "a worker to be drained", followWithin, find)
	if err == nil || ctx.Err() != nil {
		return err
	}
	s.limited = true
	if err := limitWorkers(ctx, t, s.before-1); err != nil {
		return err
	}
	return t.Await(ctx, "a worker to be drained", followWithin, find)
}

// limitWorkers sets maxReplicas.
func limitWorkers(ctx context.Context, t *tutorial.Session, most int) error {
	_, err := t.Kubectl(ctx, "patch", "elasticworkers", "-n", Namespace, "trino", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"maxReplicas":%d}}`, most))
	return err
}

// lookForDrain returns an error unless a worker shuts down in the middle of a query.
func (s *story) lookForDrain(ctx context.Context, t *tutorial.Session) error {
	if err := s.lookAtWorkers(ctx, t); err != nil {
		return err
	}
	pod, err := s.draining()
	if err != nil {
		return err
	}
	state, err := server{url: "http://" + pod.Status.PodIP + ":8080"}.state(ctx)
	if err != nil {
		return err
	}
	if state != shuttingDown {
		return fmt.Errorf("worker %q drains and says that it is %s", pod.Name, state)
	}
	for _, query := range s.queries.running() {
		tasks, err := s.trino.tasks(ctx, query)
		if err != nil {
			return err
		}
		if tasks[pod.Name] > 0 {
			s.drain = drain{worker: pod.Name, address: pod.Status.PodIP, query: query, tasks: tasks[pod.Name]}
			return nil
		}
	}
	return fmt.Errorf("worker %q shuts down, and has no tasks", pod.Name)
}

// shuttingDown is the state of a worker that finishes its tasks.
const shuttingDown = "SHUTTING_DOWN"

// draining is a worker that drains.
func (s *story) draining() (*corev1.Pod, error) {
	for i := range s.workers {
		if s.workers[i].Annotations[schedulingv1alpha1.AnnotationWorkerDrain] != "" {
			return &s.workers[i], nil
		}
	}
	return nil, fmt.Errorf("%d workers run, and none drains: %s", len(s.workers), s.sizing.Status.Message)
}

// showDrain shows what the worker says of itself, and why it goes.
func (s *story) showDrain(ctx context.Context, t *tutorial.Session) error {
	t.Show("curl http://"+s.drain.address+":8080/v1/info/state", fmt.Sprintf("%q", shuttingDown))
	_, err := t.Koordctl(ctx, "explain", "workers", "trino", "-n", Namespace)
	return err
}

// awaitGone waits until the query was answered and the worker is gone.
func (s *story) awaitGone(ctx context.Context, t *tutorial.Session) error {
	return t.Await(ctx, "the query to be answered, and the worker to go", drainWithin, func(ctx context.Context) error {
		if s.drain.answered.ID == "" {
			for _, query := range s.queries.past() {
				if query.ID == s.drain.query {
					s.drain.answered = query
				}
			}
		}
		if s.drain.answered.ID == "" {
			return fmt.Errorf("query %s still runs", s.drain.query)
		}
		if err := s.lookAtWorkers(ctx, t); err != nil {
			return err
		}
		for _, pod := range s.workers {
			if pod.Annotations[schedulingv1alpha1.AnnotationWorkerDrain] != "" {
				return fmt.Errorf("pod %q is still there", pod.Name)
			}
		}
		if have, want := len(s.workers), int(s.sizing.Status.DesiredReplicas); have > want {
			return fmt.Errorf("there are %d workers, and %d are wanted", have, want)
		}
		return nil
	})
}

// gaveWay returns an error unless there are fewer workers, and the query was answered as before.
func (s *story) gaveWay(context.Context, *tutorial.Session) error {
	switch {
	case s.drain.answered.Err != nil:
		return fmt.Errorf("worker %q was drained in the middle of a query, which failed: %w", s.drain.worker, s.drain.answered.Err)
	case len(s.workers) >= s.before:
		return fmt.Errorf("there are %d workers, and %d before the service needed more", len(s.workers), s.before)
	case s.drain.answered.Answer == "":
		return errors.New("the query was answered by no rows")
	}
	return s.queries.same(s.answer)
}

// runningWorkers are those whose containers run.
func runningWorkers(pods []corev1.Pod) (running int) {
	for i := range pods {
		if pods[i].Status.Phase == corev1.PodRunning && pods[i].DeletionTimestamp == nil {
			running++
		}
	}
	return running
}
