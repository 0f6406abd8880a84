package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sync/errgroup"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/history"
	"koordinator.sh/koord/tui/internal/story"
)

const (
	// maxPastNodes bounds the nodes whose agents are asked for the past of a cluster, and pastAtOnce those that are at once.
	maxPastNodes = 100
	pastAtOnce   = 4
	// pastRetry is how long after a failure the past is asked for again.
	pastRetry = 30 * time.Second
)

// past is what the agents of nodes recorded of the time before a chart was watched.
type past struct {
	moments []history.Moment
	step    time.Duration
	// by is who recorded it.
	by string
	// answered of the asked nodes recorded something; missing is why another did not.
	asked, answered int
	missing         string
}

// askPast asks once for the recorded past of a node, or of the cluster where it is empty.
func (c *chart) askPast(node string) tea.Cmd {
	question := pastQuestion(node)
	retry := c.past.err != nil && c.clock.Now().Sub(c.past.asked) >= pastRetry
	if !c.nodes.known || c.past.question == question && !retry {
		return nil
	}
	src, nodes := c.source, c.nodes.value.Items
	if node != "" {
		n := c.overview(node)
		if n == nil {
			return nil
		}
		nodes = []diagnostics.NodeOverview{*n}
	}
	return ask(c.Model, &c.past, question, func(ctx context.Context) (past, error) {
		if len(nodes) > maxPastNodes {
			return past{missing: fmt.Sprintf("not loaded for more than %d nodes; j and k select one", maxPastNodes)}, nil
		}
		return pastOf(ctx, src, nodes)
	})
}

func pastQuestion(node string) string { return "past " + node }

// pastOf asks the agents of nodes, and adds up what they recorded. It is an error where the only one fails.
func pastOf(ctx context.Context, src source.Source, nodes []diagnostics.NodeOverview) (past, error) {
	var mu sync.Mutex
	sum := pastSum{past: past{asked: len(nodes)}, at: map[time.Time]*summed{}}
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(pastAtOnce)
	for i := range nodes {
		n := &nodes[i]
		group.Go(func() error {
			answer, err := src.ExplainNode(groupContext, n.Name, diagnostics.NodeExplanationSpec{NodeName: n.Name, Agent: &diagnostics.AgentQuestion{
				Sections: []diagnostics.AgentSection{diagnostics.SectionUsage},
			}})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil && (len(nodes) == 1 || forbidden(err)):
				return err
			case err != nil:
				sum.missing = err.Error()
			default:
				sum.add(n, &answer.Status)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return past{}, err
	}
	return sum.result(), nil
}

// pastSum adds up the pasts of nodes. Agents record on the clock, so their moments are of the same time but for a reading.
type pastSum struct {
	past
	at map[time.Time]*summed
}

type summed struct {
	nodes  int
	moment history.Moment
}

func (s *pastSum) add(n *diagnostics.NodeOverview, status *diagnostics.NodeExplanationStatus) {
	agent := status.Agent
	if agent == nil || agent.Usage == nil || len(agent.Usage.Moments) == 0 {
		s.missing = cmp.Or(s.missing, pastMissing(n.Name, status))
		return
	}
	s.answered++
	s.by, s.step = agent.Component, max(time.Duration(agent.Usage.StepMilliseconds)*time.Millisecond, time.Second)
	for i := range agent.Usage.Moments {
		m := &agent.Usage.Moments[i]
		at := m.Time.Round(s.step)
		if s.asked == 1 {
			at = m.Time.Time
		}
		if s.at[at] == nil {
			s.at[at] = &summed{moment: history.Moment{At: at}}
		}
		sum := s.at[at]
		sum.nodes++
		sum.moment.Resources[history.CPU] = sum.moment.Resources[history.CPU].Add(story.Before(n.CPU.Capacity, m.CPU))
		sum.moment.Resources[history.Memory] = sum.moment.Resources[history.Memory].Add(story.Before(n.Memory.Capacity, m.Memory))
	}
}

// pastMissing is why the agent of a node has no recorded usage.
func pastMissing(node string, status *diagnostics.NodeExplanationStatus) string {
	switch {
	case len(status.Findings) > 0:
		return status.Findings[0].Message
	case status.Agent != nil && len(status.Agent.Incomplete) > 0:
		return status.Agent.Incomplete[0]
	case status.Agent != nil && status.Agent.Usage != nil:
		return "koordlet on node " + node + " has just started"
	}
	return "koordlet on node " + node + " does not record usage"
}

// result keeps the moments that every node which answered has recorded: a sum over fewer would look like less use.
func (s *pastSum) result() past {
	for _, sum := range s.at {
		if sum.nodes == s.answered {
			s.moments = append(s.moments, sum.moment)
		}
	}
	slices.SortFunc(s.moments, func(a, b history.Moment) int { return a.At.Compare(b.At) })
	return s.past
}
