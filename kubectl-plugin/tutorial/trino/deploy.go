package trino

import (
	"context"
	_ "embed" // the manifests
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

//go:embed profile.yaml
var profile string

//go:embed coordinator.yaml
var coordinator string

//go:embed workers.yaml
var workers string

// What pods of Trino request of batch-cpu, in thousandths of a core.
const (
	coordinatorCPU = 50
	// leastCPU is the least that a worker requests.
	leastCPU = 40
	// mostWorkers is maxReplicas.
	mostWorkers = 3
)

// sizedPercent of what the node offers is requested by all workers together. The rest lets the offer change a little.
const sizedPercent = 75

// workerCPU is what a worker requests, so that all fit in what the node offers now.
func workerCPU(offer int64) int64 {
	return max((offer-coordinatorCPU)*sizedPercent/100/mostWorkers/10*10, leastCPU)
}

func (s *story) deploy(ctx context.Context, t *tutorial.Session) error {
	s.worker = workerCPU(s.Offer)
	if err := t.Apply(ctx, profile); err != nil {
		return err
	}
	if err := t.Apply(ctx, strings.ReplaceAll(coordinator, "IMAGE", Image)); err != nil {
		return err
	}
	if err := t.Await(ctx, "the coordinator to start", service.StartWithin, s.coordinatorStarts(t)); err != nil {
		return err
	}
	of := strings.NewReplacer("IMAGE", Image, "ADDRESS_OF_COORDINATOR", s.coordinator.Status.PodIP, "WORKER_CPU", fmt.Sprintf("%dm", s.worker))
	if err := t.Apply(ctx, of.Replace(workers)); err != nil {
		return err
	}
	if err := t.Await(ctx, "the workers to start", service.StartWithin, s.workersStart(t)); err != nil {
		return err
	}
	if _, err := t.Kubectl(ctx, "get", "pods", "-n", Namespace, "-L", "role,"+extension.LabelPodQoS); err != nil {
		return err
	}
	if err := s.showNodes(ctx, t); err != nil {
		return err
	}
	_, err := t.Koordctl(ctx, "explain", "workers", "trino", "-n", Namespace)
	return err
}

// coordinatorStarts finds the coordinator, which must answer.
func (s *story) coordinatorStarts(t *tutorial.Session) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := t.Ask(ctx, &s.coordinator, "get", "pod", "-n", Namespace, "trino-coordinator", "-o", "json"); err != nil {
			return err
		}
		if s.coordinator.Status.Phase != corev1.PodRunning || s.coordinator.Status.PodIP == "" {
			return fmt.Errorf("pod %q is %s", s.coordinator.Name, s.coordinator.Status.Phase)
		}
		s.trino = server{url: "http://" + s.coordinator.Status.PodIP + ":8080"}
		return s.trino.started(ctx)
	}
}

// workersStart finds the workers, of which there must be as many as are wanted: they run, and the coordinator has them in its list. It is
// asked first, because its first answer takes longer than it takes to create them.
func (s *story) workersStart(t *tutorial.Session) func(context.Context) error {
	return func(ctx context.Context) error {
		active, err := s.active(ctx)
		if err != nil {
			return err
		}
		if err := s.lookAtWorkers(ctx, t); err != nil {
			return err
		}
		want := int(s.sizing.Status.DesiredReplicas)
		if want < 2 || active < want {
			return fmt.Errorf("the coordinator knows %d workers, and %d are wanted: %s", active, want, s.sizing.Status.Message)
		}
		if running := runningWorkers(s.workers); running < want {
			return fmt.Errorf("%d workers run, and %d are wanted", running, want)
		}
		return nil
	}
}

// lookAtWorkers reads the pods of the workers, and what they are sized by.
func (s *story) lookAtWorkers(ctx context.Context, t *tutorial.Session) error {
	var pods corev1.PodList
	if err := t.Ask(ctx, &pods, "get", "pods", "-n", Namespace, "-l", "role=worker", "-o", "json"); err != nil {
		return err
	}
	s.workers = pods.Items
	s.sizing = schedulingv1alpha1.ElasticWorkers{}
	return t.Ask(ctx, &s.sizing, "get", "elasticworkers", "-n", Namespace, "trino", "-o", "json")
}

const (
	selectNodes  = "SELECT node_id, state FROM system.runtime.nodes WHERE NOT coordinator ORDER BY node_id"
	selectActive = "SELECT count(*) FROM system.runtime.nodes WHERE NOT coordinator AND state = 'active'"
)

// active counts the workers that get tasks.
func (s *story) active(ctx context.Context) (count int, err error) {
	answer, err := s.trino.query(ctx, selectActive, func(progress) {})
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscanf(answer, `"%d"`, &count); err != nil {
		return 0, fmt.Errorf("count the workers in %q: %w", answer, err)
	}
	return count, nil
}

// showNodes asks Trino for its workers.
func (s *story) showNodes(ctx context.Context, t *tutorial.Session) error {
	answer, err := s.trino.query(ctx, selectNodes, func(progress) {})
	if err != nil {
		return err
	}
	s.show(t, selectNodes, answer)
	return nil
}

// show shows a query as it is typed for Trino's command line.
func (s *story) show(t *tutorial.Session, sql, answer string) {
	t.Show(fmt.Sprintf("trino --server %s --execute \"%s\"", s.trino.url, sql), answer)
}

func (s *story) seenDeployed() string {
	return fmt.Sprintf("%d workers run. Each requests %d thousandths of a core of batch-cpu, so that three are a bit less than what the node offers.",
		len(s.workers), s.worker)
}

// isBatch wants what the profile made of each pod.
func (s *story) isBatch(_ context.Context, t *tutorial.Session) error {
	return service.CheckBatch(t.Node.Name, append(s.workers, s.coordinator))
}
