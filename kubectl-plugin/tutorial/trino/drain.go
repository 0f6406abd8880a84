package trino

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

// drainWithin bounds each half of the drain: until a worker is asked, which is after what the node offers has followed the service, and
// until it is gone.
const drainWithin = 6 * time.Minute

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

// awaitDrain waits until a worker is asked to shut down while it has tasks.
func (s *story) awaitDrain(ctx context.Context, t *tutorial.Session) error {
	return t.Await(ctx, "a worker to be drained", drainWithin, func(ctx context.Context) error {
		query := s.queries.running()
		tasks := map[string]int{}
		if query != "" {
			var err error
			if tasks, err = s.trino.tasks(ctx, query); err != nil {
				return err
			}
		}
		if err := s.lookAtWorkers(ctx, t); err != nil {
			return err
		}
		return s.findDrain(query, tasks)
	})
}

// findDrain finds a worker that drains and has tasks of a query.
func (s *story) findDrain(query string, tasks map[string]int) error {
	draining := 0
	for _, pod := range s.workers {
		if pod.Annotations[schedulingv1alpha1.AnnotationWorkerDrain] == "" {
			continue
		}
		draining++
		if tasks[pod.Name] > 0 {
			s.drain = drain{worker: pod.Name, address: pod.Status.PodIP, query: query, tasks: tasks[pod.Name]}
			return nil
		}
	}
	if draining > 0 {
		return fmt.Errorf("%d workers drain, and none has tasks of query %q", draining, query)
	}
	return fmt.Errorf("%d workers run, and none drains: %s", len(s.workers), s.sizing.Status.Message)
}

// showDrain shows what the worker says of itself, and why it goes.
func (s *story) showDrain(ctx context.Context, t *tutorial.Session) error {
	url := "http://" + s.drain.address + ":8080"
	err := t.Await(ctx, "the worker to say so", service.StartWithin, func(ctx context.Context) error {
		state, err := server{url: url}.state(ctx)
		if err == nil && state != "SHUTTING_DOWN" {
			err = fmt.Errorf("it says %q", state)
		}
		return err
	})
	if err != nil {
		return err
	}
	t.Show("curl "+url+"/v1/info/state", `"SHUTTING_DOWN"`)
	_, err = t.Koordctl(ctx, "explain", "workers", "trino", "-n", Namespace)
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
	return s.queries.same()
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
