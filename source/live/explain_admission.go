package live

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.AdmissionExplainer = (*Source)(nil)

// ExplainAdmission reads what admission goes by, decides each pod as the webhooks do, and asks the API server for dry runs where these are
// wanted.
func (s *Source) ExplainAdmission(ctx context.Context, query source.AdmissionQuery) (*diagnosticsv1alpha1.AdmissionExplanationList, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	read := &admissionRead{Source: s, c: c, in: &objects.AdmissionSnapshot{Namespaces: map[string]*corev1.Namespace{}}}
	if err := read.all(ctx, query.Pods); err != nil {
		return nil, err
	}
	out := &diagnosticsv1alpha1.AdmissionExplanationList{TypeMeta: kind("AdmissionExplanationList"), Items: []diagnosticsv1alpha1.AdmissionExplanation{}}
	for i := range query.Pods {
		answer, err := read.explain(ctx, query.Pods[i], query.DryRun)
		if err != nil {
			return nil, fmt.Errorf("explain the admission of document %d: %w", query.Pods[i].Document, err)
		}
		out.Items = append(out.Items, *answer)
	}
	out.Incomplete = read.gaps.all()
	return out, nil
}

// explain answers about one pod.
func (r *admissionRead) explain(ctx context.Context, pod source.AdmissionPod, dryRun bool) (*diagnosticsv1alpha1.AdmissionExplanation, error) {
	admission, err := objects.NewAdmission(r.in, pod)
	if err != nil {
		return nil, err
	}
	user, undecided, err := r.user(ctx, admission)
	if err != nil {
		return nil, err
	}
	answer := admission.Conclude(user, undecided)
	if !dryRun {
		return answer, nil
	}
	verdict, message, created, err := r.c.tryPod(ctx, pod.Pod)
	if err != nil {
		return nil, err
	}
	return answer, admission.Compare(verdict, message, created)
}

// missing notes an input that the caller may not read, with the consequence, and reports whether that is so. Kinds that are not
// installed, and objects that do not exist, are not missing.
func (r *admissionRead) missing(err error, consequence string) (bool, error) {
	switch {
	case err == nil || hasCode(err, finding.NotInstalled, finding.NotFound):
		return false, nil
	case errors.Is(err, context.Canceled) || !hasCode(err, finding.Forbidden):
		return false, err
	}
	r.gaps.add(text(err, consequence))
	return true, nil
}
