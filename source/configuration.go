package source

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Configurator is a source whose configuration can be read whole, and changed where the source is a running cluster.
// Implementations are safe for concurrent use. An empty namespace stands for the system's.
type Configurator interface {
	// Configuration reads ConfigMap slo-controller-config and what it is judged by. A missing ConfigMap is no error.
	Configuration(ctx context.Context, namespace string) (*Configuration, error)
	// ConfigurationNodes reads the nodes that strategies select from.
	ConfigurationNodes(ctx context.Context) ([]corev1.Node, error)
	// Impact reads what a change of the configuration has an effect on. Only the nodes are indispensable.
	Impact(ctx context.Context) (*Impact, error)
	// CPUs reads what the node agents reported of the nodes' cpus, by node; nodes without a report are absent.
	CPUs(ctx context.Context) (map[string]*extension.CPUBasicInfo, error)
	// WriteConfiguration writes a configuration over the one it was made from. When that has changed since, it is an error
	// with code KOORD0215; when another program keeps the part that would be written, an error with code KOORD0213.
	WriteConfiguration(ctx context.Context, write ConfigurationWrite) (*Configuration, error)
	// Revisions lists the revisions kept of a configuration, the oldest first.
	Revisions(ctx context.Context, namespace string) ([]Revision, error)
	// KeepRevision keeps a configuration as the newest revision, and forgets the oldest above MaxRevisions. The number is
	// the source's to choose. A version of the ConfigMap has one revision at most: one that another command kept as found
	// gets the cause and the user of this one.
	KeepRevision(ctx context.Context, namespace string, revision Revision) (Revision, error)
}

// ConfigurationAuthorizer is a source that knows what its user may do. Implementations are safe for concurrent use.
type ConfigurationAuthorizer interface {
	// MayWriteConfiguration says why the user may not write the ConfigMap; nothing where the user may. An error says that it is not known. An
	// empty namespace stands for the system's.
	MayWriteConfiguration(ctx context.Context, namespace string) (whyNot string, err error)
}

// MaxRevisions bounds the revisions that are kept of a configuration.
const MaxRevisions = 20

// Configuration is ConfigMap slo-controller-config.
type Configuration struct {
	// Namespace and Name of the ConfigMap.
	Namespace, Name string
	// Exists is false when there is no ConfigMap.
	Exists bool
	// ResourceVersion of what was read; empty when there is none.
	ResourceVersion string
	// Data of the ConfigMap, as it is written.
	Data map[string]string
	// Owned are the keys that were last written from here.
	Owned []string
	// LastGood are the texts that the manager keeps in force; nil when there are none.
	LastGood map[string]string
	// LoadAware is the scheduler's arguments; nil when they are not known to differ from the defaults.
	LoadAware *loadaware.Args
	// Descheduler is what koord-descheduler moves pods by; none when it is not installed or not known.
	Descheduler []configuration.Descheduler
	// ElasticQuota is how the scheduler computes the shares of quotas; nil when it is not known to differ from the defaults.
	ElasticQuota *quota.Args
	// Features of the node agent by name; nil when unknown.
	Features map[string]bool
	// Unknown are the inputs that could not be read.
	Unknown unknown.Inputs
	// Incomplete says what could not be read and what follows from it.
	Incomplete []string
}

// Base is the data that an edit starts from: that of the ConfigMap, or what the manager keeps in force of one that is gone.
func (c *Configuration) Base() map[string]string {
	if c.Exists {
		return c.Data
	}
	return c.LastGood
}

// Judge returns what is noticed about data in place of that of the ConfigMap, by the scheduler, the descheduler and the agents that it was read
// with, and by the nodes that strategies select from.
func (c *Configuration) Judge(data map[string]string, nodes []corev1.Node) []configuration.Finding {
	in := configuration.Input{Data: data, LoadAware: c.LoadAware, Descheduler: c.Descheduler, Features: c.Features}
	for i := range nodes {
		in.Nodes = append(in.Nodes, &nodes[i])
	}
	return configuration.Validate(in)
}

// Impact is what a change of the configuration has an effect on.
type Impact struct {
	Nodes []corev1.Node
	// Pods that have a node and are not finished; where there are quotas, those that wait for a node too.
	Pods    []corev1.Pod
	Metrics []slov1alpha1.NodeMetric
	// SLOs are the NodeSLOs; KnowsSLOs is false when they could not be read.
	SLOs      []slov1alpha1.NodeSLO
	KnowsSLOs bool
	Quotas    []schedulingsigsv1alpha1.ElasticQuota
	// Unknown are the inputs that could not be read.
	Unknown unknown.Inputs
	// Incomplete says what could not be read and what follows from it.
	Incomplete []string
}

// ConfigurationWrite is a configuration to be written.
type ConfigurationWrite struct {
	// Base is what was read; it must not have changed since.
	Base *Configuration
	// Data that the ConfigMap is to have.
	Data map[string]string
	// Force takes over what another program keeps.
	Force bool
	// DryRun asks the server to check everything and to store nothing.
	DryRun bool
}

// FoundCause is the cause of a revision of a state that no command of ours is known to have made.
const FoundCause = "found: changed in another way"

// Revision is one state of the configuration.
type Revision struct {
	// Number of the revision, from 1, never used twice.
	Number int64
	// Time it was kept.
	Time time.Time
	// User who wrote it, as far as known.
	User string
	// Cause is the command that wrote it.
	Cause string
	// ResourceVersion of the ConfigMap; empty when it is unknown.
	ResourceVersion string
	// Data of the ConfigMap; nil when there was none.
	Data map[string]string
}
