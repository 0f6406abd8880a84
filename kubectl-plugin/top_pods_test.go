package kubectlplugin

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

// askedNode answers questions about nodes only.
type askedNode struct {
	source.Source
	answer *diagnosticsv1alpha1.NodeExplanation
	err    error
	asked  diagnosticsv1alpha1.NodeExplanationSpec
}

func (a *askedNode) ExplainNode(_ context.Context, _ string, spec diagnosticsv1alpha1.NodeExplanationSpec) (*diagnosticsv1alpha1.NodeExplanation, error) {
	a.asked = spec
	return a.answer, a.err
}

func TestTopPodsAddsTheContainersOfTheAgent(t *testing.T) {
	agents := []diagnosticsv1alpha1.ContainerAgent{{Name: "yarn", Socket: "/run/yarn.sock", Containers: []diagnosticsv1alpha1.AgentContainer{{Namespace: "yarn", Name: "c"}}}}
	src := &askedNode{answer: &diagnosticsv1alpha1.NodeExplanation{}}
	src.answer.Status.Agent = &diagnosticsv1alpha1.AgentExplanation{Agents: agents, Incomplete: []string{"something"}}
	list := &diagnosticsv1alpha1.PodOverviewList{}
	if err := addContainers(t.Context(), src, "worker-1", list); err != nil {
		t.Fatal(err)
	}
	want := &diagnosticsv1alpha1.PodOverviewList{Agents: agents, Incomplete: []string{"something"}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if got := src.asked.Agent; got == nil || len(got.Sections) != 1 || got.Sections[0] != diagnosticsv1alpha1.SectionContainers || src.asked.NodeName != "worker-1" {
		t.Errorf("asked %+v", src.asked)
	}
	src.err = errors.New("not permitted")
	if err := addContainers(t.Context(), src, "worker-1", list); !errors.Is(err, src.err) {
		t.Errorf("error = %v", err)
	}
}
