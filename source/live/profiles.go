package live

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/admission/colocationprofile"
)

// mostProfiles bounds the profiles that an answer names.
const mostProfiles = 3

func (c *clients) profiles(ctx context.Context) ([]configv1alpha1.ClusterColocationProfile, error) {
	r := request{verb: "list", group: configv1alpha1.GroupVersion.Group, resource: "clustercolocationprofiles"}
	return list(ctx, c.profile, r, selection{}, splitJSON, func(raw []byte, into *configv1alpha1.ClusterColocationProfile) error {
		return unmarshalJSON(raw, managedFieldsDrop, into)
	})
}

// whyNotOurs adds to an answer about a pod of another scheduler why no colocation profile named this one: that is what is wrong where a
// profile was meant to.
func (s *Source) whyNotOurs(ctx context.Context, c *clients, answer *diagnosticsv1alpha1.PodExplanation) {
	status := &answer.Status
	if status.Code != string(finding.OtherScheduler) || answer.Spec.PodName == "" {
		return
	}
	in := colocationprofile.Input{
		Pod: &corev1.Pod{}, Namespace: answer.Namespace,
		Options: colocationprofile.Options{ExemptNamespaces: []string{"kube-system", s.options.SystemNamespace}},
	}
	var namespace corev1.Namespace
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		in.Profiles, err = c.profiles(groupContext)
		return err
	})
	group.Go(func() error { return c.get(groupContext, "pods", in.Namespace, answer.Spec.PodName, in.Pod) })
	group.Go(func() error { return c.get(groupContext, "namespaces", "", in.Namespace, &namespace) })
	if err := group.Wait(); err != nil {
		if !hasCode(err, finding.NotInstalled) {
			status.Incomplete = append(status.Incomplete, text(err, "why no colocation profile named koord-scheduler is unknown"))
		}
		return
	}
	in.NamespaceLabels = namespace.Labels
	for i, profile := range colocationprofile.WithoutScheduler(in) {
		if i == mostProfiles {
			break
		}
		note := unappliedNote(profile, in.Namespace)
		if status.Findings = append(status.Findings, note); i == 0 {
			status.Summary += "; " + note.Message
		}
	}
}

func unappliedNote(profile colocationprofile.Unapplied, namespace string) diagnosticsv1alpha1.Finding {
	note := diagnosticsv1alpha1.Finding{
		Code: string(finding.OtherScheduler), Severity: diagnosticsv1alpha1.SeverityInfo,
		Message: fmt.Sprintf("colocation profile %q, which names %s, was not applied: %s", profile.Profile, profile.SchedulerName, profile.Reason),
		Object:  &diagnosticsv1alpha1.SourceRef{Kind: "ClusterColocationProfile", Name: profile.Profile},
		Hint:    "kubectl get clustercolocationprofile " + profile.Profile + " -o yaml",
	}
	if profile.NamespaceLabel != "" {
		note.Hint = fmt.Sprintf("kubectl label namespace %s %s --overwrite, and create the pod again", namespace, profile.NamespaceLabel)
	}
	return note
}
