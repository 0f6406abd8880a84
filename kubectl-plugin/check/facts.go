package check

import (
	"cmp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/kubectl-plugin/install"
)

// Names of the components, which are those of their workloads and of the leases or Secrets derived from them.
const (
	managerName     = "koord-manager"
	schedulerName   = "koord-scheduler"
	deschedulerName = "koord-descheduler"
	bridgeName      = "koord-bridge"
	agentName       = "koordlet"
)

// Labels by which pods and workloads of the system are known: those of the chart, and the one of upstream's.
const (
	nameLabel     = "app.kubernetes.io/name"
	versionLabel  = "app.kubernetes.io/version"
	upstreamLabel = "koord-app"
)

// Fact is something that was read, or the reasons why it could not be.
type Fact[T any] struct {
	Value T
	// Unread says why it could not be read; empty when it was.
	Unread []string
}

// Facts are everything that checks look at. They are read once.
type Facts struct {
	// Now is when they were read.
	Now time.Time
	// Client is the version of this program.
	Client string
	// Namespace the system is looked for in.
	Namespace string
	// Installation is what status shows.
	Installation *install.Collection

	Nodes Fact[[]corev1.Node]
	// Overviews are the nodes with the state of their NodeMetrics.
	Overviews Fact[[]diagnosticsv1alpha1.NodeOverview]
	// Agents are the answers about the features of each node's agent; of those that did not answer, what is known from objects.
	Agents Fact[[]AgentAnswer]
	// Pods, Deployments, DaemonSets, Services and EndpointSlices of the namespace.
	Pods        Fact[[]corev1.Pod]
	Deployments Fact[[]appsv1.Deployment]
	DaemonSets  Fact[[]appsv1.DaemonSet]
	Services    Fact[[]corev1.Service]
	Endpoints   Fact[[]discoveryv1.EndpointSlice]
	// NamespaceLabels are the labels of the namespace.
	NamespaceLabels Fact[map[string]string]
	// Webhooks are those of the whole cluster, or those with the names of the system's configurations.
	Webhooks Fact[[]WebhookFacts]
	// UnlistedWebhooks says why the webhooks of the whole cluster could not be listed; empty when they were.
	UnlistedWebhooks []string
	// Secrets that hold serving certificates, by name; one that does not exist has no value.
	Secrets map[string]*Fact[*corev1.Secret]
	// APIService of the diagnostics API; nil when there is none.
	APIService Fact[*unstructured.Unstructured]
	// Definitions are all custom resource definitions of the cluster.
	Definitions Fact[[]unstructured.Unstructured]
	// Kept are the definitions that installing leaves to others, by their names, with who owns them.
	Kept map[string]string
	// Wanted are the definitions of the chart.
	Wanted []*unstructured.Unstructured
	// Elsewhere are the namespaces in which another koord-manager runs.
	Elsewhere Fact[[]string]
	// Rights are those that installing needs and the user lacks.
	Rights Fact[[]Right]
	// Config is what is noticed about the configuration.
	Config Fact[ConfigFacts]
}

// AgentAnswer is what the agent of a node answers.
type AgentAnswer struct {
	Node  string
	Agent *diagnosticsv1alpha1.AgentExplanation
}

// ConfigFacts is the configuration as `config lint` judges it.
type ConfigFacts struct {
	// Found is what is noticed.
	Found []decision.Finding
	// Incomplete says what could not be read and what follows from it.
	Incomplete []string
}

// Right is a request that installing makes.
type Right struct {
	Verb, Group, Resource, Namespace string
}

// String writes the right as `kubectl auth can-i` takes it.
func (r Right) String() string {
	text := r.Verb + " " + r.Resource
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Namespace != "" {
		text += " -n " + r.Namespace
	}
	return text
}

// found are the findings of the status with one of these codes.
func (f *Facts) found(codes ...finding.Code) []diagnosticsv1alpha1.Finding {
	var out []diagnosticsv1alpha1.Finding
	for _, one := range f.Installation.Status.Findings {
		if slices.Contains(codes, finding.Code(one.Code)) {
			out = append(out, one)
		}
	}
	return out
}

// ofStatus is the outcome of a check that reports findings of the status.
func (f *Facts) ofStatus(part install.Part, detail string, codes ...finding.Code) Outcome {
	found := f.found(codes...)
	if unread := f.Installation.Unread[part]; len(unread) > 0 && len(found) == 0 {
		return unknown(unread...)
	}
	return judged(detail, found)
}

// upstream is true where koord-manager is another build than that of the chart, such as upstream's: what only this build serves is then
// not expected.
func (f *Facts) upstream() bool { return install.OtherBuild(f.Deployments.Value) }

// named is the workload of that name; nil when there is none.
func named[T any, P interface {
	*T
	GetName() string
}](objects []T, name string) *T {
	for i := range objects {
		if P(&objects[i]).GetName() == name {
			return &objects[i]
		}
	}
	return nil
}

// podsOf are the pods of a component, by the labels of the chart or of upstream's, or by the name of its workload.
func (f *Facts) podsOf(component string) []corev1.Pod {
	var out []corev1.Pod
	for i := range f.Pods.Value {
		pod := &f.Pods.Value[i]
		name := cmp.Or(pod.Labels[nameLabel], pod.Labels[upstreamLabel])
		if name == component || name == "" && strings.HasPrefix(pod.Name, component+"-") {
			out = append(out, *pod)
		}
	}
	return out
}

// incomplete is everything that could not be read, once each.
func (f *Facts) incomplete() []string {
	// Those of the status cover the facts that are shared with it.
	out := slices.Concat(f.Installation.Status.Incomplete, f.Overviews.Unread, f.Agents.Unread, f.Pods.Unread, f.Services.Unread, f.Endpoints.Unread,
		f.NamespaceLabels.Unread, f.Webhooks.Unread, f.UnlistedWebhooks, f.Elsewhere.Unread, f.Rights.Unread, f.Config.Unread, f.Config.Value.Incomplete)
	for _, secret := range f.Secrets {
		out = append(out, secret.Unread...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
