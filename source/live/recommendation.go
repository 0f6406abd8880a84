package live

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/recommend"
	"koordinator.sh/koord/decision/noderesource/recommendationview"
	"koordinator.sh/koord/source"
)

var _ source.Recommender = (*Source)(nil)

var (
	// podResizeDrop is a pod as a resize needs it: with the states of its containers.
	podResizeDrop = dropped{
		1: metadataDrop,
		2: numbers(1, 8, 9, 14, 15, 23, 26, 28, 34).with(2, containerDrop).with(20, containerDrop),
		3: numbers(5, 6, 12, 13, 16).with(8, containerRunningDrop).with(10, containerRunningDrop),
	}
	// containerRunningDrop is a container status without the last state, image and mounts.
	containerRunningDrop = numbers(3, 6, 7, 8, 12, 13)
)

// Recommendations lists Recommendations, and the pods and autoscalers of their namespaces, at the same time.
func (s *Source) Recommendations(ctx context.Context, query source.RecommendationQuery) (*diagnosticsv1alpha1.RecommendationExplanationList, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	selected := selection{namespace: query.Namespace, labels: query.LabelSelector}
	if len(query.Names) == 1 {
		selected.fields = equals("metadata.name", query.Names[0])
	}
	var (
		gaps  gaps
		found []analysisv1alpha1.Recommendation
		pods  []corev1.Pod
		by    autoscalers
	)
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		found, err = c.recommendations(groupContext, selected)
		return err
	})
	group.Go(func() (err error) {
		pods, err = c.pods(groupContext, selection{namespace: query.Namespace, fields: running("")}, podResizeDrop)
		return gaps.note(err, unknown.Pods, "what pods request, and what applying does to them, is unknown")
	})
	group.Go(func() error { return by.horizontal(groupContext, c, query.Namespace) })
	group.Go(func() error { return by.vertical(groupContext, c, query.Namespace) })
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if found, err = c.selectRecommendations(ctx, found, query); err != nil {
		return nil, err
	}
	list := &diagnosticsv1alpha1.RecommendationExplanationList{
		TypeMeta: kind("RecommendationExplanationList"), Items: make([]diagnosticsv1alpha1.RecommendationExplanation, 0, len(found)), Incomplete: gaps.all(),
	}
	unseen := ""
	if len(list.Incomplete) > 0 {
		unseen = list.Incomplete[0]
	}
	list.Incomplete = append(list.Incomplete, by.gaps.all()...)
	s.answerRecommendations(list, found, pods, unseen, &by)
	return list, nil
}

// answerRecommendations fills in the items. Pods are looked for in the namespace of a Recommendation alone.
func (s *Source) answerRecommendations(list *diagnosticsv1alpha1.RecommendationExplanationList, found []analysisv1alpha1.Recommendation, pods []corev1.Pod, unseen string, by *autoscalers) {
	byNamespace := map[string][]*corev1.Pod{}
	for i := range pods {
		byNamespace[pods[i].Namespace] = append(byNamespace[pods[i].Namespace], &pods[i])
	}
	slices.SortFunc(found, func(a, b analysisv1alpha1.Recommendation) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for i := range found {
		item := recommendationview.Explain(recommendationview.Input{
			Now: s.options.Clock.Now(), Recommendation: &found[i], Pods: byNamespace[found[i].Namespace], Unseen: unseen,
			Autoscalers: by.of[found[i].Namespace], AutoscalersUnseen: by.gaps.all(),
			Options: recommend.DefaultOptions(), Resizes: recommend.DefaultResizeOptions(),
		})
		item.TypeMeta = kind("RecommendationExplanation")
		list.Items = append(list.Items, item)
	}
}

// selectRecommendations keeps those of the names that were asked for; one that does not exist is an error.
func (c *clients) selectRecommendations(ctx context.Context, found []analysisv1alpha1.Recommendation, query source.RecommendationQuery) ([]analysisv1alpha1.Recommendation, error) {
	if len(query.Names) == 0 {
		return found, nil
	}
	for _, name := range query.Names {
		if !slices.ContainsFunc(found, func(r analysisv1alpha1.Recommendation) bool { return r.Name == name }) {
			return nil, c.missingRecommendation(ctx, query.Namespace, name)
		}
	}
	return slices.DeleteFunc(found, func(r analysisv1alpha1.Recommendation) bool { return !slices.Contains(query.Names, r.Name) }), nil
}

// missingRecommendation makes the error for a name that does not exist, with the nearest one that does.
func (c *clients) missingRecommendation(ctx context.Context, namespace, name string) error {
	r := recommendationRequest(namespace)
	r.name = name
	return missingAmong(ctx, c.analysis, r, "koordctl top recommendations -n "+namespace)
}

func recommendationRequest(namespace string) request {
	return requestFor("list", source.KindRecommendation, namespace)
}

func (c *clients) recommendations(ctx context.Context, by selection) ([]analysisv1alpha1.Recommendation, error) {
	return list(ctx, c.analysis, recommendationRequest(by.namespace), by, splitJSON, func(raw []byte, into *analysisv1alpha1.Recommendation) error {
		return unmarshalJSON(raw, managedFieldsDrop, into)
	})
}
