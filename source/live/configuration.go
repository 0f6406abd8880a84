package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	sigsjson "sigs.k8s.io/json"

	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.Configurator = (*Source)(nil)

func (s *Source) systemNamespace(namespace string) string {
	if namespace == "" {
		return s.options.SystemNamespace
	}
	return namespace
}

// Configuration reads the ConfigMap, the texts in force, the scheduler's arguments and the agent's features.
func (s *Source) Configuration(ctx context.Context, namespace string) (*source.Configuration, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	out := &source.Configuration{Namespace: s.systemNamespace(namespace), Name: strategyConfig}
	var gaps gaps
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() error { return s.readStrategies(groupContext, c, out) })
	group.Go(func() (err error) {
		kept := &corev1.ConfigMap{}
		if err = c.get(groupContext, "configmaps", out.Namespace, lastGoodConfig, kept); err == nil {
			out.LastGood = kept.Data
		}
		if hasCode(err, finding.NotFound) {
			return nil
		}
		return gaps.note(err, unknown.LastGoodConfiguration, "what is in force in place of a bad key is unknown")
	})
	group.Go(func() (err error) {
		settings, err := s.schedulerSettings(groupContext, c)
		out.LoadAware, out.ElasticQuota = settings.LoadAware, settings.Quotas
		return gaps.note(err, unknown.SchedulerConfiguration, "the arguments of load-aware scheduling and of elastic quotas are unknown")
	})
	group.Go(func() (err error) {
		out.Descheduler, err = s.deschedulerThresholds(groupContext, c, out.Namespace)
		return gaps.note(err, unknown.DeschedulerConfiguration, "whether its thresholds agree with the others is unknown")
	})
	group.Go(func() (err error) {
		out.Features, err = c.agentFeatures(groupContext, out.Namespace)
		return gaps.note(err, unknown.AgentFeatures, "the features of the node agent are unknown")
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	out.Incomplete, out.Unknown = gaps.all(), gaps.unknown()
	return out, nil
}

// deschedulerThresholds are what koord-descheduler moves pods by; none where it has no ConfigMap.
func (s *Source) deschedulerThresholds(ctx context.Context, c *clients, namespace string) ([]decision.Descheduler, error) {
	config := &corev1.ConfigMap{}
	err := c.get(ctx, "configmaps", namespace, objects.DeschedulerConfigMap, config)
	switch {
	case hasCode(err, finding.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	read, err := objects.ReadDescheduler(config.Data)
	if err != nil {
		return nil, fmt.Errorf("read configmap %s/%s: %w", namespace, objects.DeschedulerConfigMap, err)
	}
	return read.Thresholds(), nil
}

func (s *Source) readStrategies(ctx context.Context, c *clients, out *source.Configuration) error {
	found := &corev1.ConfigMap{}
	err := c.get(ctx, "configmaps", out.Namespace, out.Name, found)
	if hasCode(err, finding.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	describeConfiguration(out, found)
	return nil
}

func describeConfiguration(out *source.Configuration, found *corev1.ConfigMap) {
	out.Exists, out.ResourceVersion, out.Data, out.Owned = true, found.ResourceVersion, found.Data, nil
	for _, entry := range found.ManagedFields {
		if entry.Manager != configManager || entry.Operation != metav1.ManagedFieldsOperationApply || entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Data map[string]any `json:"f:data"`
		}
		if sigsjson.UnmarshalCaseSensitivePreserveInts(entry.FieldsV1.GetRawBytes(), &fields) == nil {
			for key := range maps.Keys(fields.Data) {
				out.Owned = append(out.Owned, strings.TrimPrefix(key, "f:"))
			}
		}
	}
	slices.Sort(out.Owned)
}

// agentFeatures are the feature gates that koordlet is started with; nil where it does not run, for then nothing is known.
func (c *clients) agentFeatures(ctx context.Context, namespace string) (map[string]bool, error) {
	found := &appsv1.DaemonSet{}
	err := c.apps(ctx, "daemonsets", namespace, "koordlet", found)
	if hasCode(err, finding.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	features := map[string]bool{}
	for _, container := range found.Spec.Template.Spec.Containers {
		for _, argument := range append(slices.Clone(container.Command), container.Args...) {
			list, ok := strings.CutPrefix(strings.TrimLeft(argument, "-"), "feature-gates=")
			for pair := range strings.SplitSeq(list, ",") {
				if name, value, found := strings.Cut(pair, "="); ok && found {
					features[strings.TrimSpace(name)] = strings.EqualFold(value, "true")
				}
			}
		}
	}
	return features, nil
}

// sloDrop is a NodeSLO without managedFields.
var sloDrop = droppedKeys{"metadata": keys("managedFields", "ownerReferences")}

// nodeSLOs lists what the cluster wants of all nodes.
func (c *clients) nodeSLOs(ctx context.Context) ([]slov1alpha1.NodeSLO, error) {
	r := request{verb: "list", group: slov1alpha1.GroupVersion.Group, resource: "nodeslos"}
	return list(ctx, c.slo, r, selection{}, splitJSON, func(raw []byte, into *slov1alpha1.NodeSLO) error {
		return unmarshalJSON(raw, sloDrop, into)
	})
}

// ConfigurationNodes lists all nodes.
func (s *Source) ConfigurationNodes(ctx context.Context) ([]corev1.Node, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	return c.nodes(ctx, selection{})
}

// Impact lists nodes, pods, NodeMetrics, NodeSLOs and quotas at the same time.
func (s *Source) Impact(ctx context.Context) (*source.Impact, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	out := &source.Impact{}
	var gaps gaps
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		out.Nodes, err = c.nodes(groupContext, selection{})
		return err
	})
	group.Go(func() (err error) {
		out.Pods, err = c.pods(groupContext, selection{fields: running("")}, podBriefDrop)
		return gaps.note(err, unknown.Pods, "what the pods request, and which of them would be suppressed or evicted, is unknown")
	})
	group.Go(func() (err error) {
		out.Metrics, err = c.metrics(groupContext, selection{}, always(metricBriefDrop))
		return gaps.note(err, unknown.NodeMetrics, "what is used is unknown")
	})
	group.Go(func() (err error) {
		out.SLOs, err = c.nodeSLOs(groupContext)
		out.KnowsSLOs = err == nil
		return gaps.note(err, unknown.NodeSLOs, "whether the NodeSLOs are as the configuration in force renders them is unknown")
	})
	var asking []corev1.Pod
	group.Go(func() (err error) {
		if out.Quotas, err = c.quotas(groupContext); err != nil || len(out.Quotas) == 0 {
			return gaps.note(err, unknown.Quotas, "which quotas change is unknown")
		}
		asking, err = c.pods(groupContext, selection{fields: waiting()}, podBriefDrop)
		return gaps.note(err, unknown.Pods, "what waiting pods ask of quotas is unknown")
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	out.Pods = append(out.Pods, notAmong(asking, out.Pods)...)
	out.Incomplete, out.Unknown = gaps.all(), gaps.unknown()
	return out, nil
}

// notAmong leaves out the pods that were given a node between the two lists, so that they are in both.
func notAmong(pods, bound []corev1.Pod) []corev1.Pod {
	if len(pods) == 0 {
		return nil
	}
	known := make(map[types.NamespacedName]bool, len(bound))
	for i := range bound {
		known[types.NamespacedName{Namespace: bound[i].Namespace, Name: bound[i].Name}] = true
	}
	return slices.DeleteFunc(pods, func(pod corev1.Pod) bool {
		return known[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}]
	})
}

// quotas lists the ElasticQuotas of all namespaces; a cluster that does not know the kind has none.
func (c *clients) quotas(ctx context.Context) ([]schedulingsigsv1alpha1.ElasticQuota, error) {
	version := schedulingsigsv1alpha1.GroupVersion
	r := request{verb: "list", group: version.Group, resource: "elasticquotas"}
	raw, err := rawOf(c.slo.Get().AbsPath("/apis", version.Group, version.Version, r.resource).Param("resourceVersion", fromCache).
		MaxRetries(retries).SetHeader("Accept", "application/json").Do(ctx))
	if err = failure(ctx, r, err); err != nil {
		if hasCode(err, finding.NotInstalled) {
			return nil, nil
		}
		return nil, err
	}
	found := schedulingsigsv1alpha1.ElasticQuotaList{}
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(raw, &found); err != nil {
		return nil, failure(ctx, r, err)
	}
	return found.Items, nil
}
