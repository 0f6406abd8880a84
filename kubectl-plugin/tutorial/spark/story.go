package spark

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

// story is what the steps share.
type story struct {
	service.Service
	// jars is the directory with Spark.
	jars string
	// operator submits the application.
	operator operator
	// offerBefore is what the node offered before that changed, in thousandths of a core.
	offerBefore int64
	driver      *corev1.Pod
	executors   []*corev1.Pod
	// Situations that were measured.
	together, raised, lowered service.Situation
}

func (s *story) prepare(ctx context.Context, t *tutorial.Session) (err error) {
	if s.operator, err = findOperator(t.KoordctlPath); err != nil {
		return err
	}
	if err := s.importImage(ctx, t); err != nil {
		return err
	}
	return s.Prepare(ctx, t, append([]string{"clustercolocationprofile/spark-tutorial"}, definitions...)...)
}

// needed is the batch-cpu that Spark's pods request together, in thousandths of a core.
const needed = 20 + executors*50

func (s *story) lookAtOffer(ctx context.Context, t *tutorial.Session) error {
	return s.LookAtOffer(ctx, t, needed)
}

func (s *story) offers(context.Context, *tutorial.Session) error { return s.Suffices(needed) }

func (s *story) runTogether(ctx context.Context, t *tutorial.Session) (err error) {
	err = t.Await(ctx, "Spark to do its first tasks", service.StartWithin, func(ctx context.Context) error {
		if done, err := s.tasks(t)(ctx); err != nil || done == 0 {
			return errors.Join(err, errors.New("it has done none"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.together, err = s.MeasureBeside(ctx, t, "with Spark", service.Low, s.tasks(t)); err != nil {
		return err
	}
	if _, err := t.Kubectl(ctx, "logs", "-n", Namespace, s.driver.Name, "--tail=3"); err != nil {
		return err
	}
	if _, err := t.Koordctl(ctx, "top", "pods", "-n", Namespace); err != nil {
		return err
	}
	return s.Look(ctx, t)
}

func (s *story) seenTogether() string {
	return fmt.Sprintf("%s Spark does %.1f tasks a second.", s.together.Seen(), s.together.Progress)
}

func (s *story) makesProgress(context.Context, *tutorial.Session) error {
	if s.together.Progress <= 0 {
		return errors.New("the application does no tasks beside the service")
	}
	return nil
}
