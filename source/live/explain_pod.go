package live

import (
	"cmp"
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

// ExplainPod asks the diagnostics API, and the objects where it cannot answer.
func (s *Source) ExplainPod(ctx context.Context, namespace, name string, spec diagnosticsv1alpha1.PodExplanationSpec) (*diagnosticsv1alpha1.PodExplanation, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	if spec.ReservationName == "" {
		spec.PodName = name
	}
	question := &diagnosticsv1alpha1.PodExplanation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: spec}
	answer := &diagnosticsv1alpha1.PodExplanation{}
	r := request{verb: "create", group: diagnosticsv1alpha1.GroupVersion.Group, resource: "podexplanations", namespace: namespace}
	err = c.ask(ctx, r.resource, namespace, question, answer)
	if err == nil && answer.Status.Verdict != "" {
		answer.TypeMeta = kind("PodExplanation")
		s.whyNotOurs(ctx, c, answer)
		s.whyNotAdmitted(ctx, c, answer)
		return answer, nil
	}
	note := noScheduler(answer)
	if err != nil {
		if note, err = fallback(ctx, r, err); err != nil {
			return nil, err
		}
	}
	if spec.ReservationName != "" {
		return nil, c.unexplainedReservation(ctx, spec.ReservationName, note)
	}
	snapshot, err := s.podSnapshot(ctx, c, namespace, name)
	if err != nil {
		return nil, err
	}
	snapshot.History = spec.History
	if spec.MaxNodes != nil {
		snapshot.MaxNodes = int(*spec.MaxNodes)
	}
	answer = objects.ExplainPod(*snapshot)
	answer.Spec = spec
	answer.Status.Findings = append([]diagnosticsv1alpha1.Finding{note}, answer.Status.Findings...)
	s.whyNotOurs(ctx, c, answer)
	s.whyNotAdmitted(ctx, c, answer)
	return answer, nil
}

// unexplainedReservation says why a Reservation is not explained: a name that does not exist is answered as not found by the API
// server and by the diagnostics API alike, so that the object itself has to be looked for.
func (c *clients) unexplainedReservation(ctx context.Context, name string, note diagnosticsv1alpha1.Finding) error {
	r := requestFor("get", source.KindReservation, "")
	r.name = name
	switch err := c.scheduling.Get().Resource(r.resource).Name(name).MaxRetries(retries).Do(ctx).Error(); {
	case apierrors.IsNotFound(err):
		return missingAmong(ctx, c.scheduling, r, "kubectl get "+r.qualified())
	case hasCode(failure(ctx, r, err), finding.ClusterUnreachable, finding.CertificateRejected):
		return failure(ctx, r, err) // it is not the diagnostics API alone that does not answer
	}
	why := withoutAlternative(&note).Message
	return finding.Wrap(fmt.Errorf("explain reservation %q, which only koord-scheduler can: %s", name, why), finding.Code(note.Code), cmp.Or(note.Hint, "koordctl status"))
}

// noScheduler is the finding for an answer without a verdict.
func noScheduler(answer *diagnosticsv1alpha1.PodExplanation) diagnosticsv1alpha1.Finding {
	for _, f := range answer.Status.Findings {
		if f.Code == string(finding.SchedulerUnavailable) {
			return f
		}
	}
	return diagnosticsv1alpha1.Finding{
		Code: string(finding.SchedulerUnavailable), Severity: diagnosticsv1alpha1.SeverityWarning,
		Message: "koord-scheduler did not respond, so the answer is from API objects only",
	}
}

// podSnapshot reads what the objects tell about a pod. Only the pod itself is indispensable: whatever else may not be
// read is named in the snapshot's Missing.
func (s *Source) podSnapshot(ctx context.Context, c *clients, namespace, name string) (*objects.PodSnapshot, error) {
	in := &objects.PodSnapshot{Pod: &corev1.Pod{}, LoadAware: true, Now: s.options.Clock.Now()}
	if err := c.get(ctx, "pods", namespace, name, in.Pod); err != nil {
		if hasCode(err, finding.NotFound) {
			return nil, missing(ctx, c, request{resource: "pods", namespace: namespace, name: name})
		}
		return nil, err
	}
	var gaps gaps
	group, ctx := errgroup.WithContext(ctx)
	if in.Pod.Spec.NodeName == "" {
		group.Go(func() (err error) {
			in.Nodes, err = c.nodes(ctx, selection{})
			return gaps.note(err, unknown.Nodes, "which nodes could take the pod is unknown")
		})
		group.Go(func() (err error) {
			in.Pods, err = c.pods(ctx, selection{fields: running("")}, podDrop)
			return gaps.note(err, unknown.Pods, "what the nodes have left is unknown")
		})
		group.Go(func() (err error) {
			in.Metrics, err = c.metrics(ctx, selection{}, always(metricDrop))
			in.LoadAware = err == nil
			return gaps.note(err, unknown.NodeMetrics, "load is unknown")
		})
	}
	group.Go(func() (err error) {
		in.Events, err = c.events(ctx, in.Pod)
		return gaps.note(err, unknown.Events, "what the scheduler said last may be missing")
	})
	group.Go(func() error {
		settings, err := s.schedulerSettings(ctx, c)
		in.Args, in.Profiles = settings.LoadAware, settings.Profiles
		return gaps.note(err, unknown.SchedulerConfiguration, "the profiles of koord-scheduler and the thresholds of load are unknown")
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	in.Missing, in.Unknown = gaps.all(), gaps.unknown()
	return in, nil
}

func kind(name string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: name}
}
