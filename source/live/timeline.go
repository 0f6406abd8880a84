package live

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.TimelineReader = (*Source)(nil)

// auditEntries is how much of an agent's log is asked for: all of it.
const auditEntries = 2048

// PodTimeline reads the pod, and then what tells of it, at the same time. Of a pod that does not exist anymore it reads what still names it.
func (s *Source) PodTimeline(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.PodTimeline, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	in := objects.TimelineSnapshot{Pod: &corev1.Pod{}}
	err = c.get(ctx, "pods", namespace, name, in.Pod)
	if hasCode(err, finding.NotFound) {
		return s.timelineOfGone(ctx, c, namespace, name)
	}
	if err != nil {
		return nil, err
	}
	var gaps gaps
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		in.Events, err = c.events(groupContext, in.Pod)
		in.EventsSeen = err == nil
		if err := gaps.lacks(err, "the events of the pod are unknown"); err != nil {
			return err
		}
		in.Preemptions, err = c.preemptions(groupContext, &in, &gaps)
		return err
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
	return timelineOf(in, &gaps), nil
}

func timelineOf(in objects.TimelineSnapshot, gaps *gaps) *diagnosticsv1alpha1.PodTimeline {
	in.Missing = gaps.all()
	answer := objects.PodTimeline(in)
	answer.TypeMeta = kind("PodTimeline")
	return answer
}

// timelineOfGone tells of a pod that does not exist anymore. A name that no event and no PodMigrationJob has is an error.
func (s *Source) timelineOfGone(ctx context.Context, c *clients, namespace, name string) (*diagnosticsv1alpha1.PodTimeline, error) {
	in, gaps := objects.TimelineSnapshot{Gone: true}, gaps{}
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		in.Events, err = c.events(groupContext, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
		in.EventsSeen = err == nil
		return gaps.lacks(err, "the events of the pod are unknown")
	})
	group.Go(func() (err error) {
		in.Jobs, err = c.migrationJobs(groupContext)
		return gaps.lacks(err, "whether the pod was moved is unknown")
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if !objects.RememberPod(&in, namespace, name) {
		return nil, missing(ctx, c, request{resource: "pods", namespace: namespace, name: name})
	}
	var err error
	if in.Preemptions, err = c.preemptions(ctx, &in, &gaps); err != nil {
		return nil, err
	}
	in.Audit, in.Notes, err = s.audit(ctx, in.Pod.Spec.NodeName)
	if err := gaps.lacks(err, "what koordlet did with the pod is unknown"); err != nil {
		return nil, err
	}
	return timelineOf(in, &gaps), nil
}

// preemptions are the events about pods that were preempted, where the pod may have preempted some. A user who may not list events of all
// namespaces is told of those in the namespace of the pod.
func (c *clients) preemptions(ctx context.Context, in *objects.TimelineSnapshot, gaps *gaps) ([]corev1.Event, error) {
	if !objects.MayHavePreempted(in) {
		return nil, nil
	}
	found, err := c.eventsOfReason(ctx, in.Pod.Namespace, objects.ReasonPreempted, "whether the pod preempted pods in other namespaces is unknown", gaps)
	return found, gaps.lacks(err, "which pods the pod preempted is unknown")
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
