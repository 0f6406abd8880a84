package live

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/gangview"
	"koordinator.sh/koord/source"
)

var _ source.GangViewer = (*Source)(nil)

// GangTree lists the gangs of all namespaces, because gangs of several may start together, and keeps those that are asked for.
func (s *Source) GangTree(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.GangExplanationList, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	found, err := s.gangs(ctx, c, "")
	if hasCode(err, finding.Forbidden) && namespace != "" {
		denied := text(err, "gangs of other namespaces are not known, even if they start together with these")
		if found, err = s.gangs(ctx, c, namespace); err == nil {
			found.Incomplete = append([]string{denied}, found.Incomplete...)
		}
	}
	if err != nil {
		return nil, err
	}
	list := &diagnosticsv1alpha1.GangExplanationList{TypeMeta: kind("GangExplanationList"), Items: []diagnosticsv1alpha1.GangExplanation{}, Incomplete: found.Incomplete}
	asked := func(g *source.Gang) bool {
		return (namespace == "" || g.Namespace == namespace) && (name == "" || g.Name == name)
	}
	for _, g := range gangview.Together(found.Items, asked) {
		item := gangview.Explain(&g, len(found.Incomplete) > 0)
		item.TypeMeta = kind("GangExplanation")
		list.Items = append(list.Items, *item)
	}
	if name != "" && len(list.Items) == 0 {
		return nil, c.missingGang(ctx, namespace, name)
	}
	return list, nil
}
