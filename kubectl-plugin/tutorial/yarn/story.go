package yarn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

// story is what the steps share.
type story struct {
	service.Service
	// jars is the directory with YARN and the job.
	jars string
	// address of the node.
	address string
	manager resourceManager
	// node and taken are what the ResourceManager and Kubernetes said last of what YARN has.
	node  nodeReport
	taken int64
	// job is the ID of the application, master the URL of its master.
	job, master string
	ended       application
	// before is what YARN might use before that changed, used what its containers used of it, and shrunk what it might use then, in vcores.
	before, used, shrunk int64
	// limited is true where the threshold was lowered, because what the node offers could not follow; threshold is what it was, in percent.
	limited   bool
	threshold int64
	// counted is what the job said before and after it was held back.
	countedBefore, counted count
	// Situations that were measured.
	together, raised, lowered service.Situation
	// evicted is the first container that the agent of the node killed because its like got too little CPU, and why.
	evicted eviction
}

func (s *story) prepare(ctx context.Context, t *tutorial.Session) error {
	if err := s.importImage(ctx, t); err != nil {
		return err
	}
	if err := s.Prepare(ctx, t, "priorityclass/yarn-tutorial"); err != nil {
		return err
	}
	// Before the ResourceManager goes: without it, koord-bridge leaves everything as it is.
	t.Undo(func(ctx context.Context) error { return uninstall(ctx, t) })
	return nil
}

// needed is the batch-cpu for the master of the job and two more containers, in thousandths of a core.
const needed = 3 * perVCore

func (s *story) lookAtOffer(ctx context.Context, t *tutorial.Session) error {
	return s.LookAtOffer(ctx, t, needed)
}

func (s *story) offers(context.Context, *tutorial.Session) error { return s.Suffices(needed) }

func (s *story) runTogether(ctx context.Context, t *tutorial.Session) (err error) {
	if err := s.submit(ctx, t); err != nil {
		return err
	}
	if s.together, err = s.MeasureBeside(ctx, t, "with YARN", service.Low, s.numbers); err != nil {
		return err
	}
	if s.counted, err = s.ask(ctx); err != nil {
		return err
	}
	if err := s.showNode(ctx, t); err != nil {
		return err
	}
	if s.node, err = s.manager.node(ctx); err != nil {
		return err
	}
	if _, err := t.Koordctl(ctx, "explain", "node", t.Node.Name, "containers"); err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "top", "pods", "-A", "--node", t.Node.Name, "--containers")
	return err
}

func (s *story) seenTogether() string {
	return fmt.Sprintf("YARN may use %d vcores, and %d containers of the job run beside that of its master. %s The job looks at %.1f thousand numbers a second.",
		s.node.vcores(), s.counted.Containers, s.together.Seen(), s.together.Progress/thousand)
}

const thousand = 1000

func (s *story) makesProgress(context.Context, *tutorial.Session) error {
	if s.together.Progress <= 0 || s.counted.Containers == 0 {
		return errors.New("the job counts nothing beside the service")
	}
	return nil
}

// written is what a master says, as it says it.
func written(now count) string {
	said, _ := json.Marshal(now) // numbers alone
	return string(said)
}
