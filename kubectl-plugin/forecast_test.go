package kubectlplugin

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

// partial is a cluster of three nodes, of which two answer, each without the same.
type partial struct {
	source.Source
	err error
}

func (partial) Names(context.Context, source.Kind, string, int) ([]string, error) {
	return []string{"one", "two", "three"}, nil
}

func (p partial) ExplainNodes(_ context.Context, names []string, _ diagnosticsv1alpha1.NodeExplanationSpec) ([]diagnosticsv1alpha1.NodeExplanation, error) {
	var answers []diagnosticsv1alpha1.NodeExplanation
	for _, name := range []string{names[0], names[2]} {
		answers = append(answers, diagnosticsv1alpha1.NodeExplanation{
			Spec:   diagnosticsv1alpha1.NodeExplanationSpec{NodeName: name},
			Status: diagnosticsv1alpha1.NodeExplanationStatus{Incomplete: []string{"the agent did not respond"}},
		})
	}
	return answers, p.err
}

func TestWhatNodesHaveInCommonIsMissingOnce(t *testing.T) {
	list, _, missing, err := forecastAll(t.Context(), partial{}, diagnosticsv1alpha1.NodeExplanationSpec{})
	if err != nil || len(list.Items) != 2 || list.Items[1].Spec.NodeName != "three" {
		t.Fatalf("%v, %+v: want the two nodes that answered", err, list)
	}
	if diff := cmp.Diff([]string{"the agent did not respond (2 nodes)"}, missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	if _, _, _, err := forecastAll(t.Context(), partial{err: errors.New("refused")}, diagnosticsv1alpha1.NodeExplanationSpec{}); err == nil {
		t.Error("an error is passed over")
	}
}
