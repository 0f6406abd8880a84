package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/source"
)

// cabinet is a cluster whose configuration is kept in memory.
type cabinet struct {
	source.Source
	current   source.Configuration
	revisions []source.Revision
	impact    source.Impact
	// writes counts what was stored; refuse is answered to every write.
	writes int
	// cpus of the nodes.
	cpus   map[string]*extension.CPUBasicInfo
	refuse error
	// unkept is answered when a revision is to be kept.
	unkept error
	// rivals change the configuration each before another write.
	rivals []func(*cabinet)
}

var _ source.Configurator = (*cabinet)(nil)

func (c *cabinet) Describe(context.Context) (source.Cluster, error) {
	return source.Cluster{User: "eve"}, nil
}

func (c *cabinet) Configuration(context.Context, string) (*source.Configuration, error) {
	out := c.current
	out.Namespace, out.Name, out.Data = "koordinator-system", "slo-controller-config", maps.Clone(c.current.Data)
	return &out, nil
}

func (c *cabinet) ConfigurationNodes(context.Context) ([]corev1.Node, error) {
	return c.impact.Nodes, nil
}

func (c *cabinet) CPUs(context.Context) (map[string]*extension.CPUBasicInfo, error) {
	return c.cpus, nil
}

func (c *cabinet) Impact(context.Context) (*source.Impact, error) { return &c.impact, nil }

func (c *cabinet) WriteConfiguration(_ context.Context, write source.ConfigurationWrite) (*source.Configuration, error) {
	if c.refuse != nil && !write.Force {
		return nil, c.refuse
	}
	if len(c.rivals) > 0 && !write.DryRun {
		c.rivals[0](c)
		c.rivals = c.rivals[1:]
	}
	if write.Base.ResourceVersion != c.current.ResourceVersion {
		return nil, finding.Wrap(errors.New("changed meanwhile"), finding.ConfigChanged, "")
	}
	out := *write.Base
	out.Data, out.Exists, out.ResourceVersion = write.Data, true, fmt.Sprint(100+c.writes)
	if !write.DryRun {
		c.writes++
		c.current = out
	}
	return &out, nil
}

func (c *cabinet) Revisions(context.Context, string) ([]source.Revision, error) {
	return c.revisions, nil
}

func (c *cabinet) KeepRevision(_ context.Context, _ string, revision source.Revision) (source.Revision, error) {
	if c.unkept != nil {
		return revision, c.unkept
	}
	revision.Data = maps.Clone(revision.Data)
	revision.Number, revision.Time = int64(len(c.revisions)+1), testNow.Add(-time.Minute)
	c.revisions = append(c.revisions, revision)
	return revision, nil
}

const cabinetColocation = `{
  "enable": true,
  "cpuReclaimThresholdPercent": 60,
  "nodeConfigs": [
    {"name": "gold", "nodeSelector": {"matchLabels": {"pool": "gold"}}, "cpuReclaimThresholdPercent": 40}
  ]
}`

// newCabinet is three measured nodes with a configuration that has been changed once.
func newCabinet() *cabinet {
	base := cluster()
	batch := base.Pods[1]
	batch.Status.QOSClass = corev1.PodQOSBestEffort
	gold := makeNode("worker-3")
	gold.Labels = map[string]string{"pool": "gold"}
	c := &cabinet{
		current: source.Configuration{Exists: true, ResourceVersion: "7", Data: map[string]string{
			"colocation-config":         cabinetColocation,
			"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 97}}`,
		}},
		impact: source.Impact{
			Nodes: []corev1.Node{makeNode("worker-1"), makeNode("worker-2"), gold}, Pods: []corev1.Pod{base.Pods[0], batch}, KnowsSLOs: true,
			Metrics: []slov1alpha1.NodeMetric{
				makeMetric("worker-1", 42*time.Second, "12", "20Gi",
					&slov1alpha1.PodMetricInfo{Namespace: "shop", Name: "web-0", PodUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "4", "memory", "3Gi")}},
					&slov1alpha1.PodMetricInfo{Namespace: "spark", Name: "executor-1", PodUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "6", "memory", "3Gi")}}),
				makeMetric("worker-2", 30*time.Second, "10", "20Gi"), makeMetric("worker-3", 30*time.Second, "5", "20Gi"),
			},
		},
	}
	config, _ := configmerge.Parse(c.current.Data)
	for i := range c.impact.Nodes {
		slo := slov1alpha1.NodeSLO{Spec: config.NodeSLOSpec(&c.impact.Nodes[i])}
		slo.Name = c.impact.Nodes[i].Name
		c.impact.SLOs = append(c.impact.SLOs, slo)
	}
	return c
}

func with(c *cabinet, edit ...func(*Options)) func(*Options) {
	return func(o *Options) {
		o.Connect = func(clientcmd.ClientConfig, Connection) (source.Source, error) { return c, nil }
		for _, e := range edit {
			e(o)
		}
	}
}

// rival is another command that sets a value of a key at the same time.
func rival(key, value string) func(*cabinet) {
	return func(c *cabinet) {
		c.current.Data = maps.Clone(c.current.Data)
		c.current.Data[key] = value
		c.current.ResourceVersion += "+"
	}
}

// answering is a person at the terminal who types a line.
func answering(line string) func(*Options) {
	return func(o *Options) {
		o.Streams.In = strings.NewReader(line)
		o.Terminal.Input = true
	}
}
