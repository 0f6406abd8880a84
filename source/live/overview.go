package live

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/noderesource/overview"
	"koordinator.sh/koord/decision/scheduling/schedulerconfig"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

// nodesRead is what a list of nodes is made of.
type nodesRead struct {
	gaps     gaps
	nodes    []corev1.Node
	requests []overcommit.PodRequests
	// pods are nil where what they request is enough.
	pods     []corev1.Pod
	metrics  []slov1alpha1.NodeMetric
	settings schedulerconfig.Settings
	config   configmerge.Config
	// descheduler is nil where its configuration was not asked for or does not exist.
	descheduler *objects.Descheduler
}

// Nodes lists nodes as koord-manager sees them, which has all of it at hand. Where it does not answer, or not all, and for what it does not
// know, Nodes lists the nodes, their pods and their NodeMetrics at the same time. Only the nodes are indispensable.
func (s *Source) Nodes(ctx context.Context, query source.NodeQuery) (*diagnosticsv1alpha1.NodeOverviewList, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	if query.Names == nil && query.FieldSelector == "" && !query.Operands && !query.Balance {
		if list := c.nodeOverviews(ctx, query.LabelSelector); list != nil {
			return list, nil
		}
	}
	r := &nodesRead{}
	if err := s.readNodes(ctx, c, query, r); err != nil {
		return nil, err
	}
	if r.nodes, err = named(r.nodes, query.Names, func(n *corev1.Node) string { return n.Name }, func(name string) error {
		return missing(ctx, c, request{resource: "nodes", name: name})
	}); err != nil {
		return nil, err
	}
	now := s.options.Clock.Now()
	list := overview.Nodes(overview.NodesInput{
		Nodes: r.nodes, Pods: r.requests, Metrics: r.metrics, LoadArgs: r.settings.LoadAware, Config: &r.config, Operands: query.Operands,
		Unknown: r.gaps.unknown(), Now: now,
	})
	if query.Balance {
		addBalance(list, &r.gaps, &objects.BalanceInput{
			Nodes: r.nodes, Partial: len(query.Names) > 0 || query.LabelSelector != "" || query.FieldSelector != "", Pods: r.pods, Metrics: r.metrics,
			Descheduler: r.descheduler, Now: now,
		})
	}
	list.Incomplete = append(list.Incomplete, r.gaps.all()...)
	return list, nil
}

func (s *Source) readNodes(ctx context.Context, c *clients, query source.NodeQuery, r *nodesRead) error {
	one := ""
	if len(query.Names) == 1 {
		one = query.Names[0]
	}
	// The NodeMetrics wait for the nodes and settings that say what of them is needed.
	var told sync.WaitGroup
	told.Add(2)
	drop := sync.OnceValue(func() droppedKeys {
		told.Wait()
		return metricDropFor(r.settings.LoadAware, r.nodes)
	})
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		defer told.Done()
		r.nodes, err = c.nodes(groupContext, selection{labels: query.LabelSelector, fields: both(query.FieldSelector, equals("metadata.name", one))})
		return err
	})
	group.Go(func() (err error) {
		defer told.Done()
		r.settings, err = s.schedulerSettings(groupContext, c)
		return r.gaps.note(err, unknown.SchedulerConfiguration, "load is unknown")
	})
	group.Go(func() (err error) {
		r.metrics, err = c.metrics(groupContext, selection{fields: equals("metadata.name", one)}, drop)
		return r.gaps.note(err, unknown.NodeMetrics, "what is used is unknown")
	})
	group.Go(func() (err error) {
		by := selection{fields: running(one)}
		if query.Balance {
			r.pods, err = c.pods(groupContext, by, podBriefDrop)
			r.requests = overcommit.RequestsOfAll(r.pods)
		} else {
			r.requests, err = c.podRequests(groupContext, by)
		}
		return r.gaps.note(err, unknown.Pods, "what pods request is unknown")
	})
	group.Go(func() (err error) {
		r.config, err = s.strategies(groupContext, c)
		return r.gaps.note(err, unknown.Configuration, "the built-in settings say when measurements are stale")
	})
	if query.Balance {
		group.Go(func() (err error) {
			r.descheduler, err = s.balanceSettings(groupContext, c, &r.gaps)
			return err
		})
	}
	return group.Wait()
}

// Pods lists pods, and NodeMetrics at the same time unless nobody asks what pods use. Only the pods are indispensable.
func (s *Source) Pods(ctx context.Context, query source.PodQuery) (*diagnosticsv1alpha1.PodOverviewList, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	var (
		gaps gaps
		pods []diagnosticsv1alpha1.PodOverview
		uses []overview.NodeUses
	)
	by := selection{namespace: query.Namespace, labels: query.LabelSelector, fields: equals("spec.nodeName", query.NodeName)}
	if len(query.Names) == 1 && query.NodeName == "" {
		by.fields = equals("metadata.name", query.Names[0])
	}
	by.fields = both(query.FieldSelector, by.fields)
	now := s.options.Clock.Now()
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		pods, err = c.podRows(groupContext, by)
		return err
	})
	if !query.NoUse {
		group.Go(func() (err error) {
			uses, err = c.podUses(groupContext, selection{fields: equals("metadata.name", query.NodeName)}, now)
			return gaps.note(err, unknown.NodeMetrics, "what is used is unknown")
		})
	}
	if err := group.Wait(); err != nil {
		if query.Namespace == "" && hasCode(err, finding.Forbidden) {
			return nil, finding.Wrap(err, finding.Forbidden, request{verb: "list", resource: "pods"}.canI()+"; -n NAMESPACE shows a namespace you may read")
		}
		return nil, err
	}
	if pods, err = named(pods, query.Names, func(p *diagnosticsv1alpha1.PodOverview) string { return p.Name }, func(name string) error {
		return missing(ctx, c, request{resource: "pods", namespace: query.Namespace, name: name})
	}); err != nil {
		return nil, err
	}
	list := overview.Pods(overview.PodsInput{Rows: pods, Uses: uses, Unknown: gaps.unknown()})
	list.Incomplete = append(list.Incomplete, gaps.all()...)
	return list, nil
}

// equals selects by one field; an empty value selects all.
func equals(field, value string) string {
	if value == "" {
		return ""
	}
	return fields.OneTermEqualSelector(field, value).String()
}

// both selects what two field selectors do; an empty one selects all.
func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}

// running selects the pods of one node, or of any, that hold something there: those that finished hold nothing.
func running(node string) string {
	on := fields.OneTermNotEqualSelector("spec.nodeName", "")
	if node != "" {
		on = fields.OneTermEqualSelector("spec.nodeName", node)
	}
	return fields.AndSelectors(on, unfinished()).String()
}

// waiting selects the pods that have no node and ask for one.
func waiting() string {
	return fields.AndSelectors(fields.OneTermEqualSelector("spec.nodeName", ""), unfinished()).String()
}

func unfinished() fields.Selector {
	return fields.AndSelectors(
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
	)
}

// named keeps the objects with the names asked for, all when there are none. A name that no object has is an error.
func named[T any](objects []T, names []string, nameOf func(*T) string, missing func(string) error) ([]T, error) {
	if len(names) == 0 {
		return objects, nil
	}
	found := map[string]bool{}
	objects = slices.DeleteFunc(objects, func(o T) bool {
		name := nameOf(&o)
		found[name] = true
		return !slices.Contains(names, name)
	})
	for _, name := range names {
		if !found[name] {
			return nil, missing(name)
		}
	}
	return objects, nil
}
