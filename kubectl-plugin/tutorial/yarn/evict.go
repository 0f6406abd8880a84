package yarn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
)

const (
	// burst is how many requests per second the service gets for a moment: so many that best effort gets much less CPU than it requests. Where
	// they stayed, YARN might have nothing left.
	burst = 150
	// starvedPercent of the CPU that best effort requests is too little for it, and satisfiedPercent enough.
	starvedPercent   = 55
	satisfiedPercent = 60
	// evictWithin bounds how long the agent of the node takes to kill a container, after its setting was changed.
	evictWithin = 2 * time.Minute
	// mayKill is as many as an agent kills within five minutes at most.
	mayKill = "--max-evictions=20"
	// The settings of BECPUEvict.
	satisfaction      = "resource-threshold-config.clusterStrategy.cpuEvictBESatisfaction"
	satisfactionLower = satisfaction + "LowerPercent"
	satisfactionUpper = satisfaction + "UpperPercent"
)

// eviction is a container that the agent of the node killed.
type eviction struct {
	container, why string
}

// evictStarved has the agent kill containers while best effort gets much less CPU than it requests.
func (s *story) evictStarved(ctx context.Context, t *tutorial.Session) error {
	err := s.UnderLoad(ctx, burst, func(ctx context.Context) error {
		if _, err := t.Koordctl(ctx, "explain", "node", t.Node.Name, "containers"); err != nil {
			return err
		}
		if _, err := t.Koordctl(ctx, "config", "set", fmt.Sprintf("%s=%d", satisfactionLower, starvedPercent),
			fmt.Sprintf("%s=%d", satisfactionUpper, satisfiedPercent), "--yes", mayKill); err != nil {
			return err
		}
		return t.Await(ctx, "a container to be killed", evictWithin, func(ctx context.Context) error { return s.lookForEviction(ctx, t) })
	})
	if err != nil {
		return err
	}
	if _, err := t.Koordctl(ctx, "forecast", "evictions", t.Node.Name); err != nil {
		return err
	}
	if _, err := t.Koordctl(ctx, "audit", "node", t.Node.Name, "--pod", containerPrefix); err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "config", "unset", satisfactionLower, satisfactionUpper, "--yes", mayKill)
	return err
}

// containerPrefix is how the IDs of YARN's containers begin.
const containerPrefix = "container_"

// lookForEviction reads the audit log of the agent.
func (s *story) lookForEviction(ctx context.Context, t *tutorial.Session) error {
	said, err := t.Run(ctx, t.KoordctlPath, "", "audit", "node", t.Node.Name, "--pod", containerPrefix, "-o", "json")
	if err != nil {
		return err
	}
	var node diagnosticsv1alpha1.NodeExplanation
	if err := json.Unmarshal([]byte(said), &node); err != nil {
		return fmt.Errorf("read the audit log of node %q: %w", t.Node.Name, err)
	}
	s.evicted = firstEviction(&node)
	if err := s.wasEvicted(ctx, t); err != nil {
		return err
	}
	// Until the job knows it, its container is not started again.
	if s.counted, err = s.ask(ctx); err == nil && s.counted.Killed == 0 {
		err = fmt.Errorf("the job has not heard of the end of %s", s.evicted.container)
	}
	return err
}

// firstEviction is the zero value where there is none.
func firstEviction(node *diagnosticsv1alpha1.NodeExplanation) eviction {
	agent := node.Status.Agent
	if agent == nil || agent.Audit == nil {
		return eviction{}
	}
	for i := range agent.Audit.Entries {
		entry := &agent.Audit.Entries[i]
		if at := strings.Index(entry.Object, containerPrefix); at >= 0 && entry.New == "killed" && entry.Error == "" {
			return eviction{container: entry.Object[at:], why: entry.Why}
		}
	}
	return eviction{}
}

func (s *story) seenEvicted() string {
	return fmt.Sprintf("The first one that was killed is %s: %s.", s.evicted.container, s.evicted.why)
}

// wasEvicted returns an error unless the agent of the node has killed a container.
func (s *story) wasEvicted(context.Context, *tutorial.Session) error {
	if s.evicted.container == "" {
		return errors.New("the agent of the node has killed no container")
	}
	return nil
}
