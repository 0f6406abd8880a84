package manager

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/controllers/jobinsight/engines"
	"koordinator.sh/koord/decision/nodeqos/evictionbudget"
	"koordinator.sh/koord/decision/scheduling/queryhint"
)

// leaseName is the name of the leader election lease.
const leaseName = "koordinator-manager"

// Options are the flags of koord-manager.
type Options struct {
	// Kubeconfig to reach the API server; empty inside a cluster.
	Kubeconfig string
	// KubeAPIQPS and KubeAPIBurst bound the requests to the API server.
	KubeAPIQPS   float32
	KubeAPIBurst int
	// ConfigNamespace and SLOConfigName name the configuration. Certificates and the lease lie in the same namespace.
	ConfigNamespace string
	SLOConfigName   string
	// ManageCertificates issues the serving certificates and their CA; false only reads their Secrets.
	ManageCertificates bool
	// LeaderElect runs the controllers only on the replica that holds the lease.
	LeaderElect bool
	// MetricsBindAddress serves /metrics, over TLS and to authorized clients only when MetricsSecure; 0 disables it.
	MetricsBindAddress string
	MetricsSecure      bool
	// HealthProbeBindAddress serves /healthz and /readyz over HTTP; 0 disables it.
	HealthProbeBindAddress string
	// DiagnosticsBindAddress and DiagnosticsPort serve the diagnostics API.
	DiagnosticsBindAddress net.IP
	DiagnosticsPort        int
	// WebhookBindAddress and WebhookPort serve the admission webhooks; port 0 turns admission off.
	WebhookBindAddress string
	WebhookPort        int
	// WebhookServicePort is the port of service koord-manager that leads to WebhookPort.
	WebhookServicePort int
	// AuthenticateWebhookClients requires webhook clients to present the front-proxy client certificate; otherwise all clients are served.
	AuthenticateWebhookClients bool
	// AdmissionPolicies applies colocation profiles by MutatingAdmissionPolicy where CEL can express them.
	AdmissionPolicies bool
	// SkipMutatingResources, SkipExtendedResourceSpec, SkipValidatingPriority, RequireQuota and AllowParentQuota change what
	// admission does to pods.
	SkipMutatingResources, SkipExtendedResourceSpec, SkipValidatingPriority, RequireQuota, AllowParentQuota bool
	// QuotaUpdateResourceKeys and QuotaGuaranteeUsage change what admission does to quotas, QuotaTrees what it does to their pods.
	QuotaUpdateResourceKeys, QuotaGuaranteeUsage, QuotaTrees bool
	// ProtectQuotas denies tenants the quotas of others, and mins that exceed the total of the tree.
	ProtectQuotas bool
	// NodeAdmission amplifies the allocatable of nodes that have the annotation.
	NodeAdmission bool
	// NodeValidation rejects nodes with invalid or conflicting Koordinator labels and annotations.
	NodeValidation bool
	// RestrictAgents allows koordlet to evict only pods of the node that its token is bound to.
	RestrictAgents bool
	// EvictionBudgetPercent of the co-located pods may be evicted by all node agents within ten minutes, and 20 in any case.
	EvictionBudgetPercent int
	// MigrateOnEviction answers evictions of pods that ask for it with status 429, and migrates them.
	MigrateOnEviction bool
	// QueryHints writes scheduling hints to pods of query engines. A node is hot when it uses QueryHintHotPercent of its memory, and a hint
	// prefers at most QueryHintNodes nodes.
	QueryHints                          bool
	QueryHintHotPercent, QueryHintNodes int
	// SharedGPU publishes resource koordinator.sh/gpu.shared of nodes with GPUs.
	SharedGPU bool
	// ColocationProfileController also applies profiles with the label config.koordinator.sh/controller-managed to existing
	// pods.
	ColocationProfileController bool
	RecommenderOptions
	// JobInsight learns what batch jobs use and how long they run.
	JobInsight bool
	// JobInsightEngines are engines whose applications and queries it learns, too, TYPE/NAME=URL[,URL...].
	JobInsightEngines []string
	// JobPredictions writes to pods of jobs how long they are expected to take.
	JobPredictions bool
	// ElasticWorkers sizes the targets of ElasticWorkers.
	ElasticWorkers bool
	// SchedulerEndpoint is the URL of the explain endpoint of koord-scheduler.
	SchedulerEndpoint string
	// SchedulerCAFile is the CA file for it; empty uses the CA in its Secret.
	SchedulerCAFile string
	// AgentHost is the host of the agents of all nodes, instead of the addresses of their Nodes; for simulated nodes.
	AgentHost string
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		KubeAPIQPS:             400,
		KubeAPIBurst:           800,
		ConfigNamespace:        configuration.DefaultNamespace,
		SLOConfigName:          configuration.DefaultConfigMapName,
		ManageCertificates:     true,
		LeaderElect:            true,
		MetricsBindAddress:     ":8080",
		MetricsSecure:          true,
		HealthProbeBindAddress: ":8000",
		DiagnosticsBindAddress: net.IPv4zero,
		DiagnosticsPort:        8443,
		WebhookPort:            9443,
		WebhookServicePort:     9443,
		AdmissionPolicies:      true,
		ProtectQuotas:          true,
		NodeAdmission:          true,
		NodeValidation:         true,
		RestrictAgents:         true,
		EvictionBudgetPercent:  evictionbudget.DefaultPercent,
		QueryHints:             true,
		QueryHintHotPercent:    int(queryhint.DefaultSettings().HotMemoryPercent),
		QueryHintNodes:         queryhint.DefaultSettings().MaxNodes,
		RecommenderOptions:     RecommenderOptions{Recommender: true},
		JobInsight:             true,
		JobPredictions:         true,
		SchedulerEndpoint:      "https://koord-scheduler." + configuration.DefaultNamespace + ".svc:10260",
	}
}

// AddFlags registers the options as flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "Path to a kubeconfig; empty uses the in-cluster configuration")
	flags.Float32Var(&o.KubeAPIQPS, "kube-api-qps", o.KubeAPIQPS, "Maximum requests per second to the API server")
	flags.IntVar(&o.KubeAPIBurst, "kube-api-burst", o.KubeAPIBurst, "Maximum burst of requests to the API server")
	flags.StringVar(&o.ConfigNamespace, "config-namespace", o.ConfigNamespace, "Namespace of the configuration ConfigMap, the certificates and the lease")
	flags.StringVar(&o.SLOConfigName, "slo-config-name", o.SLOConfigName, "Name of the configuration ConfigMap")
	flags.BoolVar(&o.ManageCertificates, "manage-certificates", o.ManageCertificates,
		"Issue and renew the serving certificates of koord-manager and koord-scheduler; if false, their Secrets are only read")
	flags.BoolVar(&o.LeaderElect, "leader-elect", o.LeaderElect, "Run the controllers only on the replica that holds the lease "+leaseName)
	flags.StringVar(&o.MetricsBindAddress, "metrics-bind-address", o.MetricsBindAddress, "Address for /metrics; 0 disables it")
	flags.BoolVar(&o.MetricsSecure, "metrics-secure", o.MetricsSecure, "Serve /metrics over TLS with authentication and authorization")
	flags.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", o.HealthProbeBindAddress, "Address for /healthz and /readyz; 0 disables them")
	flags.IPVar(&o.DiagnosticsBindAddress, "diagnostics-bind-address", o.DiagnosticsBindAddress, "Address for the diagnostics API")
	flags.IntVar(&o.DiagnosticsPort, "diagnostics-port", o.DiagnosticsPort, "Port for the diagnostics API")
	o.addAdmissionFlags(flags)
	o.RecommenderOptions.addFlags(flags)
	flags.BoolVar(&o.JobInsight, "job-insight", o.JobInsight, "Learn what batch jobs use and how long they run, and keep it in ConfigMaps, for koordctl forecast job")
	flags.StringArrayVar(&o.JobInsightEngines, "job-insight-engine", o.JobInsightEngines,
		"Engine whose applications or queries are learned, too, TYPE/NAME=URL[,URL...], such as yarn/prod=http://rm-1:8088,http://rm-2:8088; may be given several times")
	flags.BoolVar(&o.JobPredictions, "job-predictions", o.JobPredictions, "Write to pods of jobs how long they are expected to take, which those go by who evict, move and preempt pods; requires --job-insight")
	flags.BoolVar(&o.ElasticWorkers, "elastic-workers", o.ElasticWorkers, "Scale the targets of ElasticWorkers to what nodes offer, and drain workers before they are taken away")
	flags.BoolVar(&o.SharedGPU, "shared-gpu", o.SharedGPU, "Publish koordinator.sh/gpu.shared: 100 for each healthy GPU of a node")
	flags.StringVar(&o.SchedulerEndpoint, "scheduler-endpoint", o.SchedulerEndpoint, "URL of the explain endpoint of koord-scheduler")
	flags.StringVar(&o.AgentHost, "agent-host", o.AgentHost, "Host of the agents of all nodes, for simulated nodes; empty uses the addresses of the Nodes")
	flags.StringVar(&o.SchedulerCAFile, "scheduler-ca-file", o.SchedulerCAFile, "CA file for koord-scheduler; empty uses the CA in its Secret")
}

func (o *Options) addAdmissionFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.WebhookBindAddress, "webhook-bind-address", o.WebhookBindAddress, "Address for the admission webhooks; empty listens on all addresses")
	flags.IntVar(&o.WebhookPort, "webhook-port", o.WebhookPort, "Port for the admission webhooks; 0 disables admission")
	flags.IntVar(&o.WebhookServicePort, "webhook-service-port", o.WebhookServicePort, "Port of the Service koord-manager for the admission webhooks")
	flags.BoolVar(&o.AuthenticateWebhookClients, "authenticate-webhook-clients", o.AuthenticateWebhookClients,
		"Require webhook clients to present the front-proxy client certificate of the API server; its admission configuration must be set up for that")
	flags.BoolVar(&o.AdmissionPolicies, "admission-policies", o.AdmissionPolicies, "Apply colocation profiles by MutatingAdmissionPolicy where CEL can express them")
	flags.BoolVar(&o.NodeValidation, "node-validation", o.NodeValidation, "Reject nodes with invalid or conflicting Koordinator labels and annotations")
	flags.BoolVar(&o.NodeAdmission, "node-admission", o.NodeAdmission, "Amplify the allocatable of nodes with the annotation node.koordinator.sh/resource-amplification-ratio")
	flags.BoolVar(&o.RestrictAgents, "restrict-agents", o.RestrictAgents, "Allow koordlet to evict only pods of the node that its token is bound to")
	flags.IntVar(&o.EvictionBudgetPercent, "eviction-budget-percent", o.EvictionBudgetPercent,
		fmt.Sprintf("Maximum percentage of the co-located pods that all koordlets together may evict within %s, at least %d pods; 100 is unlimited", evictionbudget.Window, evictionbudget.Least))
	flags.BoolVar(&o.MigrateOnEviction, "migrate-on-eviction", o.MigrateOnEviction,
		"Migrate pods with the annotation descheduler.koordinator.sh/migrate-on-eviction when they are evicted; needs koord-descheduler")
	flags.BoolVar(&o.SkipMutatingResources, "skip-mutating-resources", o.SkipMutatingResources, "Do not change the resources of pods")
	flags.BoolVar(&o.SkipExtendedResourceSpec, "skip-extended-resource-spec", o.SkipExtendedResourceSpec, "Do not write the annotation with the batch and mid resources of pods")
	flags.BoolVar(&o.SkipValidatingPriority, "skip-validating-priority", o.SkipValidatingPriority, "Allow all combinations of QoS class and priority")
	flags.BoolVar(&o.RequireQuota, "require-quota", o.RequireQuota, "Reject pods with a quota that does not exist")
	flags.BoolVar(&o.AllowParentQuota, "allow-parent-quota", o.AllowParentQuota, "Allow pods in parent quotas")
	flags.BoolVar(&o.ProtectQuotas, "protect-quotas", o.ProtectQuotas,
		"Reject pods whose namespace may not use their quota, mins that exceed the total, and quotas whose user has no permission for their namespaces, parent or tree; false matches upstream Koordinator")
	flags.BoolVar(&o.QuotaUpdateResourceKeys, "quota-update-resource-keys", o.QuotaUpdateResourceKeys, "Allow quotas to limit fewer resources than their parents")
	flags.BoolVar(&o.QuotaGuaranteeUsage, "quota-guarantee-usage", o.QuotaGuaranteeUsage,
		"Reject a min that the quota tree cannot guarantee; use with guaranteeUsage of the scheduler plugin ElasticQuota")
	flags.BoolVar(&o.QuotaTrees, "quota-trees", o.QuotaTrees, "Restrict pods of a quota tree to the nodes of its ElasticQuotaProfile")
	flags.BoolVar(&o.QueryHints, "query-hints", o.QueryHints, "Write scheduling hints to pods with label scheduling.koordinator.sh/query-worker or scheduling.koordinator.sh/query-cache")
	flags.IntVar(&o.QueryHintHotPercent, "query-hint-hot-memory-percent", o.QueryHintHotPercent, "Percentage of its memory from which a node is hot, and not preferred by hints")
	flags.IntVar(&o.QueryHintNodes, "query-hint-nodes", o.QueryHintNodes,
		fmt.Sprintf("Maximum number of nodes that a hint prefers, 1 to %d; maxHintNodes of plugin SchedulingHint must not be lower", queryhint.MostNodes))
	flags.BoolVar(&o.ColocationProfileController, "colocation-profile-controller", o.ColocationProfileController,
		"Also apply profiles with the label config.koordinator.sh/controller-managed=true to existing pods")
}

// Validate reports everything that is wrong at once.
func (o *Options) Validate() error {
	var errs []error
	if !(o.KubeAPIQPS > 0) || o.KubeAPIBurst < 1 {
		errs = append(errs, fmt.Errorf("--kube-api-qps %g and --kube-api-burst %d must be positive", o.KubeAPIQPS, o.KubeAPIBurst))
	}
	if o.ConfigNamespace == "" || o.SLOConfigName == "" {
		errs = append(errs, errors.New("--config-namespace and --slo-config-name must not be empty"))
	}
	if o.DiagnosticsPort < 1 || o.DiagnosticsPort > 65535 {
		errs = append(errs, fmt.Errorf("--diagnostics-port %d must be between 1 and 65535", o.DiagnosticsPort))
	}
	if o.WebhookPort < 0 || o.WebhookPort > 65535 || o.WebhookServicePort < 1 || o.WebhookServicePort > 65535 {
		errs = append(errs, fmt.Errorf("--webhook-port %d must be between 0 and 65535, --webhook-service-port %d between 1 and 65535",
			o.WebhookPort, o.WebhookServicePort))
	}
	if o.EvictionBudgetPercent < 0 || o.EvictionBudgetPercent > 100 {
		errs = append(errs, fmt.Errorf("--eviction-budget-percent %d must be between 0 and 100", o.EvictionBudgetPercent))
	}
	if err := o.queryHintSettings().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--query-hint-hot-memory-percent and --query-hint-nodes: %w", err))
	}
	if _, err := engines.Parse(o.JobInsightEngines); err != nil {
		errs = append(errs, fmt.Errorf("--job-insight-engine: %w", err))
	}
	return errors.Join(errs...)
}

func (o *Options) queryHintSettings() queryhint.Settings {
	settings := queryhint.DefaultSettings()
	settings.HotMemoryPercent, settings.MaxNodes = int64(o.QueryHintHotPercent), o.QueryHintNodes
	return settings
}
