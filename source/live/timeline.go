package live

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.TimelineReader = (*Source)(nil)

// auditEntries is how much of an agent's log is asked for: all of it.
const auditEntries = 2048

// PodTimeline reads the pod, and then what tells of it, at the same time.
func (s *Source) PodTimeline(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.PodTimeline, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	in := objects.TimelineSnapshot{Pod: &corev1.Pod{}}
	if err := c.get(ctx, "pods", namespace, name, in.Pod); err != nil {
		if hasCode(err, finding.NotFound) {
			return nil, missing(ctx, c, request{resource: "pods", namespace: namespace, name: name})
		}
		return nil, err
	}
	var gaps gaps
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		in.Events, err = c.events(groupContext, in.Pod)
		in.EventsSeen = err == nil
		return gaps.lacks(err, "the events of the pod are unknown")
	})
	group.Go(func() (err error) {
		in.Jobs, err = c.migrationJobs(groupContext)
		return gaps.lacks(err, "whether the pod was moved is unknown")
	})
	group.Go(func() (err error) {
		in.Audit, in.Notes, err = s.audit(groupContext, in.Pod.Spec.NodeName)
		return gaps.lacks(err, "what koordlet did with the pod is unknown")
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	in.Missing = gaps.all()
	answer := objects.PodTimeline(in)
	answer.TypeMeta = kind("PodTimeline")
	return answer, nil
}

// audit reads the log of a node's agent. One that keeps none, such as a simulated one, is a note.
func (s *Source) audit(ctx context.Context, node string) (entries []diagnosticsv1alpha1.AuditEntry, notes []string, err error) {
	if node == "" {
		return nil, nil, nil
	}
	answer, err := s.ExplainNode(ctx, node, diagnosticsv1alpha1.NodeExplanationSpec{Agent: &diagnosticsv1alpha1.AgentQuestion{
		Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionAudit},
		Audit:    &diagnosticsv1alpha1.AuditQuestion{Size: new(int32(auditEntries))},
	}})
	switch {
	case err != nil:
		return nil, nil, err
	case answer.Status.Agent != nil && answer.Status.Agent.Audit != nil:
		return answer.Status.Agent.Audit.Entries, nil, nil
	case answer.Status.Agent != nil:
		notes = slices.Clone(answer.Status.Agent.Incomplete)
	}
	for _, found := range answer.Status.Findings {
		notes = append(notes, found.Message)
	}
	if len(notes) == 0 {
		notes = []string{"what koordlet did with the pod is unknown: the agent of node " + node + " keeps no log"}
	}
	return nil, notes, nil
}
