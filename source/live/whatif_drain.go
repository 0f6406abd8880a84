package live

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.DrainForecaster = (*Source)(nil)

// reviewTimeout bounds the wait for a review of placements, which runs the scheduler's plugins for up to 200 pods.
const reviewTimeout = 30 * time.Second

// ForecastDrain reads the cluster, and asks the scheduler where the pods go that leave.
func (s *Source) ForecastDrain(ctx context.Context, query source.DrainQuery) (*diagnosticsv1alpha1.DrainForecast, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	in := &objects.DrainSnapshot{Now: s.options.Clock.Now()}
	var gaps gaps
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		in.Nodes, err = c.nodes(groupContext, selection{})
		return err
	})
	group.Go(func() (err error) {
		in.Pods, err = c.pods(groupContext, selection{fields: fields.OneTermNotEqualSelector("spec.nodeName", "").String()}, podEvictableDrop)
		return err
	})
	group.Go(func() (err error) {
		in.Metrics, err = c.metrics(groupContext, selection{}, always(metricBriefDrop))
		return gaps.note(err, unknown.NodeMetrics, "what is used is unknown")
	})
	group.Go(func() (err error) {
		in.Budgets, err = c.budgets(groupContext, "")
		in.NoBudgets = err != nil && !hasCode(err, finding.NotInstalled, finding.NotFound)
		return gaps.lacks(err, "whether PodDisruptionBudgets hold pods back is unknown")
	})
	group.Go(func() (err error) {
		in.Quotas, err = c.quotas(groupContext)
		return gaps.lacks(err, "the quotas of the pods are unknown")
	})
	group.Go(func() (err error) {
		in.Groups, err = c.podGroups(groupContext, "")
		return gaps.lacks(err, "how many members gangs need is unknown")
	})
	group.Go(func() (err error) {
		in.Reservations, err = c.reservations(groupContext)
		return gaps.lacks(err, "which Reservations are on the nodes is unknown")
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if in.Drained, err = drained(ctx, c, in.Nodes, query); err != nil {
		return nil, err
	}
	in.Missing, in.Unknown = gaps.all(), gaps.unknown()
	forecast := objects.NewDrain(in)
	review, note, err := c.reviewPlacements(ctx, forecast.Question())
	if err != nil {
		return nil, err
	}
	answer := forecast.Answer(review)
	if note != nil {
		answer.Findings = append([]diagnosticsv1alpha1.Finding{*note}, answer.Findings...)
		answer.Incomplete = append(answer.Incomplete, withoutAlternative(note).Message+"; where pods go is unknown")
	}
	return answer, nil
}

// drained are the names of the nodes that a query selects, sorted.
func drained(ctx context.Context, c *clients, nodes []corev1.Node, query source.DrainQuery) ([]string, error) {
	selector, err := labels.Parse(query.LabelSelector)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range nodes {
		if len(query.Names) == 0 && selector.Matches(labels.Set(nodes[i].Labels)) || slices.Contains(query.Names, nodes[i].Name) {
			names = append(names, nodes[i].Name)
		}
	}
	for _, name := range query.Names {
		if !slices.Contains(names, name) {
			return nil, missing(ctx, c, request{resource: "nodes", name: name})
		}
	}
	slices.Sort(names)
	return names, nil
}

// reviewPlacements asks the scheduler where pods go; nil without a question. Where it cannot be asked, a finding says why.
func (c *clients) reviewPlacements(ctx context.Context, spec *diagnosticsv1alpha1.PlacementReviewSpec) (*diagnosticsv1alpha1.PlacementReviewStatus, *diagnosticsv1alpha1.Finding, error) {
	if spec == nil {
		return nil, nil, nil
	}
	question := &diagnosticsv1alpha1.PlacementReview{TypeMeta: kind("PlacementReview"), ObjectMeta: metav1.ObjectMeta{Name: "whatif"}, Spec: *spec}
	answer := &diagnosticsv1alpha1.PlacementReview{}
	r := request{verb: "create", group: diagnosticsv1alpha1.GroupVersion.Group, resource: "placementreviews"}
	err := c.askWithin(ctx, reviewTimeout, r.resource, "", question, answer)
	if err == nil {
		return &answer.Status, nil, nil
	}
	note, err := fallback(ctx, r, err)
	if err != nil {
		return nil, nil, err
	}
	note.Hint = cmp.Or(note.Hint, "koordctl status")
	return nil, &note, nil
}

// withoutAlternative is a finding of fallback that does not say what was answered instead; nil for nil.
func withoutAlternative(note *diagnosticsv1alpha1.Finding) *diagnosticsv1alpha1.Finding {
	if note == nil {
		return nil
	}
	changed := *note
	changed.Message = strings.Replace(note.Message, askedAlone, "", 1)
	return &changed
}

// budgets lists the PodDisruptionBudgets of a namespace, or of all.
func (c *clients) budgets(ctx context.Context, namespace string) ([]policyv1.PodDisruptionBudget, error) {
	client, err := c.group(func(config *rest.Config) {
		coreGroup(config)
		config.APIPath, config.GroupVersion = "/apis", &policyv1.SchemeGroupVersion
	})
	if err != nil {
		return nil, err
	}
	r := request{verb: "list", group: policyv1.GroupName, resource: "poddisruptionbudgets", namespace: namespace}
	found := &policyv1.PodDisruptionBudgetList{}
	err = client.Get().NamespaceIfScoped(namespace, namespace != "").Resource(r.resource).Param("resourceVersion", fromCache).MaxRetries(retries).Do(ctx).Into(found)
	return found.Items, failure(ctx, r, err)
}
