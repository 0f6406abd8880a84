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

// story is what the steps share.
type story struct {
	service.Service
	// worker is what a worker requests of batch-cpu, in thousandths of a core.
	worker      int64
	coordinator corev1.Pod
	workers     []corev1.Pod
	sizing      schedulingv1alpha1.ElasticWorkers
	trino       server
	queries     *queries
	// answer is that of the first query.
	answer string
	// before is how many workers there were before their number changed.
	before int
	drain  drain
	// limited is true where maxReplicas was lowered, because what the node offers could not follow.
	limited bool
	// Situations that were measured.
	together, raised, lowered service.Situation
}

func (s *story) prepare(ctx context.Context, t *tutorial.Session) error {
	if err := importImage(ctx, t); err != nil {
		return err
	}
	if _, err := t.Koordctl(ctx, "install", "--set", "elasticWorkers.enabled=true", "--wait"); err != nil {
		return err
	}
	t.Undo(func(ctx context.Context) error {
		_, err := t.Run(ctx, t.KoordctlPath, "", "install", "--set", "elasticWorkers.enabled=false")
		return err
	})
	return s.Prepare(ctx, t, "clustercolocationprofile/trino-tutorial")
}

// needed is the batch-cpu that Trino's pods request together at least.
const needed = coordinatorCPU + mostWorkers*leastCPU

// settleFor is how long what the node offers takes to follow what the service uses: its averages are over a minute, and reported every
// 15 s. The workers are sized by it.
const settleFor = 80 * time.Second

func (s *story) lookAtOffer(ctx context.Context, t *tutorial.Session) error {
	began := time.Now()
	err := s.UnderLoad(ctx, service.Low, func(ctx context.Context) error {
		return s.AwaitOffer(ctx, t, "what the node offers to follow", func(context.Context) error {
			if time.Since(began) < settleFor {
				return errors.New("what it offers goes by averages over a minute")
			}
			return s.Suffices(needed)
		})
	})
	if err != nil {
		return err
	}
	return s.LookAtOffer(ctx, t, needed)
}

func (s *story) offers(context.Context, *tutorial.Session) error { return s.Suffices(needed) }

// sql reads what suppliers have of parts, which the TPC-H connector generates meanwhile, and counts it by the region of the supplier.
const sql = "SELECT r.name, count(*), sum(ps.availqty) FROM tpch.sf1.partsupp ps JOIN tpch.sf1.supplier s ON ps.suppkey = s.suppkey " +
	"JOIN tpch.sf1.nation n ON s.nationkey = n.nationkey JOIN tpch.sf1.region r ON n.regionkey = r.regionkey GROUP BY r.name ORDER BY r.name"

// answerWithin is how long the first query may take, for which the servers still compile what they run.
const answerWithin = 10 * time.Minute

func (s *story) runTogether(ctx context.Context, t *tutorial.Session) (err error) {
	err = t.Await(ctx, "the first query to be answered", answerWithin, func(ctx context.Context) error {
		s.answer, err = s.trino.query(ctx, sql, func(progress) {})
		return err
	})
	if err != nil {
		return err
	}
	s.show(t, sql, s.answer)
	s.queries = &queries{server: s.trino, sql: sql}
	stop := s.queries.start(ctx)
	t.Undo(func(context.Context) error {
		stop()
		return nil
	})
	if s.together, err = s.MeasureBeside(ctx, t, "with Trino", service.Low, s.queries.rows); err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "top", "pods", "-n", Namespace)
	return err
}

func (s *story) seenTogether() string {
	return fmt.Sprintf("%s Trino reads %.0f thousand rows a second.", s.together.Seen(), s.together.Progress/thousand)
}

const thousand = 1000

func (s *story) makesProgress(context.Context, *tutorial.Session) error {
	if s.together.Progress <= 0 {
		return errors.New("trino reads nothing beside the service")
	}
	return s.queries.same(s.answer)
}
