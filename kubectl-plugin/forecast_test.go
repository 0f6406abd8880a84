package kubectlplugin

import (
	"context"
	"errors"
	"testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

// vanishing is a cluster whose second node cannot be explained.
type vanishing struct {
	source.Source
	err error
}

func (v vanishing) Names(context.Context, source.Kind, string, int) ([]string, error) {
	return []string{"one", "two", "three"}, nil
}

func (v vanishing) ExplainNode(_ context.Context, name string, _ diagnosticsv1alpha1.NodeExplanationSpec) (*diagnosticsv1alpha1.NodeExplanation, error) {
	if name == "two" {
		return nil, v.err
	}
	return &diagnosticsv1alpha1.NodeExplanation{Spec: diagnosticsv1alpha1.NodeExplanationSpec{NodeName: name}}, nil
}

func TestANodeThatGoesMeanwhileIsNotForecast(t *testing.T) {
	gone := finding.Wrap(errors.New(`nodes "two" not found`), finding.NotFound, "")
	list, _, _, err := forecastAll(t.Context(), vanishing{err: gone}, diagnosticsv1alpha1.NodeExplanationSpec{})
	if err != nil || len(list.Items) != 2 || list.Items[1].Spec.NodeName != "three" {
		t.Errorf("%v, %+v: want the two nodes that are there", err, list)
	}
	if _, _, _, err := forecastAll(t.Context(), vanishing{err: errors.New("refused")}, diagnosticsv1alpha1.NodeExplanationSpec{}); err == nil {
		t.Error("a node that cannot be asked is passed over")
	}
}
