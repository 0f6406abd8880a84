package live

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.PlacementForecaster = (*Source)(nil)

// ForecastPlacement reads the cluster, and asks the scheduler where the pods go; with new nodes or offers, also where they go without.
func (s *Source) ForecastPlacement(ctx context.Context, query source.PlacementQuery) (*diagnosticsv1alpha1.PlacementForecast, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	in := &objects.PlacementSnapshot{Offers: query.Offers, NewNodes: query.NewNodes, Waiting: query.Waiting}
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		in.Nodes, err = c.nodes(groupContext, selection{})
		return err
	})
	group.Go(func() (err error) {
		in.Pods, err = c.pods(groupContext, selection{fields: unfinished().String()}, podEvictableDrop)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if err := known(ctx, c, in.Nodes, &query); err != nil {
		return nil, err
	}
	if query.Copied.Name != "" {
		if err := c.copied(ctx, &query.Copied, in); err != nil {
			return nil, err
		}
	}
	answer, err := c.forecastPlacement(ctx, in)
	if err != nil {
		return nil, err
	}
	return answer, s.outlookOfCopies(ctx, in, answer)
}

// outlookOfCopies asks the nodes that take copies what they will offer, where the copies request what changes with the usage of services.
func (s *Source) outlookOfCopies(ctx context.Context, in *objects.PlacementSnapshot, forecast *diagnosticsv1alpha1.PlacementForecast) error {
	nodes, resources := objects.OutlookQuestion(in, forecast)
	if len(resources) == 0 {
		return nil
	}
	answers, err := s.ExplainNodes(ctx, nodes, diagnosticsv1alpha1.NodeExplanationSpec{Resources: resources, MaxParts: new(int32), Outlook: true})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	problem := ""
	if err != nil {
		problem = err.Error()
		forecast.Incomplete = append(forecast.Incomplete, text(err, "for how long the pods keep what they request is unknown"))
	}
	objects.OutlookOfCopies(in, forecast, answers, problem)
	return nil
}

// known fails for a node that has other offers, or that new ones should be like, and does not exist.
func known(ctx context.Context, c *clients, nodes []corev1.Node, query *source.PlacementQuery) error {
	names := map[string]bool{}
	for i := range nodes {
		names[nodes[i].Name] = true
	}
	asked := make([]string, 0, len(query.NewNodes)+len(query.Offers))
	for _, of := range query.NewNodes {
		asked = append(asked, of.Like)
	}
	for _, offer := range query.Offers {
		asked = append(asked, offer.Node)
	}
	for _, name := range asked {
		if !names[name] {
			return missing(ctx, c, request{resource: "nodes", name: name})
		}
	}
	return nil
}

// copied finds the pod to copy, and how often.
func (c *clients) copied(ctx context.Context, of *source.CopiedPods, in *objects.PlacementSnapshot) error {
	in.Copies, in.AsMany = of.Most, of.Replicas == 0
	if of.Kind == source.KindPod {
		for i := range in.Pods {
			if in.Pods[i].Namespace == of.Namespace && in.Pods[i].Name == of.Name {
				in.Copied = &in.Pods[i]
				return nil
			}
		}
		return missing(ctx, c, request{resource: "pods", namespace: of.Namespace, name: of.Name})
	}
	workload, err := c.workload(ctx, of)
	if err != nil {
		return err
	}
	selector, err := metav1.LabelSelectorAsSelector(workload.Spec.Selector)
	if err != nil {
		return fmt.Errorf("read the selector of %s %s/%s: %w", of.Kind, of.Namespace, of.Name, err)
	}
	var own []corev1.Pod
	for i := range in.Pods {
		if in.Pods[i].Namespace == of.Namespace && selector.Matches(labels.Set(in.Pods[i].Labels)) {
			own = append(own, in.Pods[i])
		}
	}
	if in.Copied = objects.LikeNewOnes(own); in.Copied == nil {
		return finding.Wrap(fmt.Errorf("%s %s/%s has no pod that new ones could be like", of.Kind, of.Namespace, of.Name), finding.NotFound,
			fmt.Sprintf("kubectl get %s %s -n %s", of.Kind, of.Name, of.Namespace))
	}
	in.Workload = &diagnosticsv1alpha1.ForecastWorkload{Kind: of.Kind.API.Kind, Namespace: of.Namespace, Name: of.Name, Replicas: workload.Spec.Replicas}
	if of.Replicas == 0 {
		return nil
	}
	in.Workload.Wanted, in.Copies = &of.Replicas, of.Replicas-workload.Spec.Replicas
	return bounded(of, in.Copies)
}

// bounded fails where no pods, or too many, are added to a workload.
func bounded(of *source.CopiedPods, copies int32) error {
	hint := fmt.Sprintf("kubectl get %s %s -n %s", of.Kind, of.Name, of.Namespace)
	if copies < 1 {
		return finding.Wrap(fmt.Errorf("%s %s/%s asks for %d replicas now: %d would not add any pod", of.Kind, of.Namespace, of.Name, of.Replicas-copies, of.Replicas),
			finding.InvalidArgument, hint)
	}
	if copies > diagnosticsv1alpha1.MaxPlacementReviewCopies {
		return finding.Wrap(fmt.Errorf("%s %s/%s: %d more replicas are too many: at most %d can be forecast", of.Kind, of.Namespace, of.Name, copies, diagnosticsv1alpha1.MaxPlacementReviewCopies),
			finding.InvalidArgument, hint)
	}
	return nil
}

// scalable is what the workloads have in common.
type scalable struct {
	Spec struct {
		Replicas int32                 `json:"replicas"`
		Selector *metav1.LabelSelector `json:"selector"`
	} `json:"spec"`
}

func (c *clients) workload(ctx context.Context, of *source.CopiedPods) (*scalable, error) {
	r := request{verb: "get", group: appsv1.GroupName, resource: of.Kind.Plural, namespace: of.Namespace, name: of.Name}
	body, err := c.core.Get().AbsPath("/apis", r.group, "v1", "namespaces", r.namespace, r.resource, r.name).SetHeader("Accept", "application/json").
		MaxRetries(retries).DoRaw(ctx)
	if err != nil {
		return nil, failure(ctx, r, err)
	}
	workload := &scalable{}
	if err := json.Unmarshal(body, workload); err != nil {
		return nil, fmt.Errorf("decode %s %s/%s: %w", of.Kind, of.Namespace, of.Name, err)
	}
	return workload, nil
}

// forecastPlacement asks the scheduler; where pods that wait are placed with new nodes or offers, also where they go without.
func (c *clients) forecastPlacement(ctx context.Context, in *objects.PlacementSnapshot) (*diagnosticsv1alpha1.PlacementForecast, error) {
	review, note, err := c.reviewPlacements(ctx, objects.PlacementQuestion(in))
	if err != nil {
		return nil, err
	}
	unknown := "where pods go is unknown"
	var without *diagnosticsv1alpha1.PlacementReviewStatus
	if review != nil && in.Waiting {
		unknown = "where pods go without the change is unknown"
		if without, note, err = c.reviewPlacements(ctx, &diagnosticsv1alpha1.PlacementReviewSpec{Waiting: true}); err != nil {
			return nil, err
		}
	}
	answer := objects.ForecastPlacement(in, review, without)
	if note != nil {
		answer.Findings = append([]diagnosticsv1alpha1.Finding{*withoutAlternative(note)}, answer.Findings...)
		answer.Incomplete = append(answer.Incomplete, withoutAlternative(note).Message+"; "+unknown)
	}
	return answer, nil
}
