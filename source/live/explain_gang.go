package live

import (
	"context"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gangview"
	"koordinator.sh/koord/source"
)

var _ source.GangExplainer = (*Source)(nil)

// ExplainGang lists the gangs of a namespace, and says how far one of them is.
func (s *Source) ExplainGang(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.GangExplanation, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	found, err := s.gangs(ctx, c, namespace)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(found.Items, func(g source.Gang) bool { return g.Namespace == namespace && g.Name == name })
	if at < 0 {
		return nil, c.missingGang(ctx, namespace, name)
	}
	answer := gangview.Explain(&found.Items[at], len(found.Incomplete) > 0)
	answer.TypeMeta, answer.Incomplete = kind("GangExplanation"), found.Incomplete
	return answer, nil
}

// missingGang makes the error for a name that does not exist, with the nearest PodGroup that does.
func (c *clients) missingGang(ctx context.Context, namespace, name string) error {
	client, err := c.of(source.KindGang)
	if err != nil {
		return err
	}
	r := requestFor("list", source.KindGang, namespace)
	r.name = name
	return missingAmong(ctx, client, r, "kubectl get podgroups -n "+namespace)
}
