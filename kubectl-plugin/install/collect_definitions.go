package install

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/deploy/release"
)

// ownDefinitions are of kinds that no other build of koord-manager knows. Beside such a build they are not missed.
var ownDefinitions = []string{"elasticworkers.scheduling.koordinator.sh"}

// OtherBuild is true where koord-manager is another build than that of the chart, such as upstream's: what only this build serves is then
// not expected.
func OtherBuild(deployments []appsv1.Deployment) bool {
	at := slices.IndexFunc(deployments, func(d appsv1.Deployment) bool { return d.Name == managerName })
	return at >= 0 && deployments[at].Labels[release.PartOfLabel] != release.PartOf
}

func defines(live []unstructured.Unstructured, name string) bool {
	return slices.ContainsFunc(live, func(definition unstructured.Unstructured) bool { return definition.GetName() == name })
}

func (c *collector) collectDefinitions(ctx context.Context) error {
	names, err := release.DefinitionNames()
	if err != nil {
		return err
	}
	state := &c.status.Definitions
	live, err := c.dynamic.Resource(definitions).List(ctx, metav1.ListOptions{})
	if c.unseen(err) {
		state.State, state.Expected = StateUnknown, len(names)
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the resource definitions: %w", err)
	}
	c.objects.Definitions = live.Items
	names = slices.DeleteFunc(names, func(name string) bool {
		return slices.Contains(ownDefinitions, name) && OtherBuild(c.objects.Deployments) && !defines(live.Items, name)
	})
	state.Expected = len(names)
	state.Established = new(int)
	established := map[string]bool{}
	for i := range live.Items {
		if ready, _ := Condition(&live.Items[i], "Established"); ready {
			established[live.Items[i].GetName()] = true
		}
	}
	for _, name := range names {
		if established[name] {
			*state.Established++
		} else {
			state.Missing = append(state.Missing, name)
		}
	}
	switch {
	case len(state.Missing) == 0:
		state.State = StateReady
	case *state.Established == 0:
		state.State = StateAbsent
	default:
		state.State = StateDegraded
	}
	return nil
}
