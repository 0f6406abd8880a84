package extension

// Prefixes of the labels and annotations.
const (
	// DomainPrefix begins the general keys and the device resource names.
	DomainPrefix = "koordinator.sh/"
	// ResourceDomainPrefix begins the batch and mid resource names.
	ResourceDomainPrefix = "kubernetes.io/"
	// SchedulingDomainPrefix begins the keys the scheduler reads and writes.
	SchedulingDomainPrefix = "scheduling.koordinator.sh/"
	// InternalSchedulingDomainPrefix begins the keys that only components of the system exchange.
	InternalSchedulingDomainPrefix = "internal.scheduling.koordinator.sh/"
	// NodeDomainPrefix begins the keys of nodes and of what is sent to them.
	NodeDomainPrefix = "node.koordinator.sh/"
	// PodDomainPrefix begins the keys that steer the admission of pods.
	PodDomainPrefix = "pod.koordinator.sh/"
	// GangDomainPrefix begins the keys of gangs.
	GangDomainPrefix = "gang.scheduling.koordinator.sh/"
	// QuotaDomainPrefix begins the keys of elastic quotas.
	QuotaDomainPrefix = "quota.scheduling.koordinator.sh/"
	// ConfigDomainPrefix begins the keys of configuration objects.
	ConfigDomainPrefix = "config.koordinator.sh/"
	// KubeletDomainPrefix begins the keys that mirror kubelet configuration.
	KubeletDomainPrefix = "kubelet.koordinator.sh/"
)

const (
	// LabelManagedBy marks NodeResourceTopology objects written by the node agent.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedByKoordinator is the value of LabelManagedBy.
	ManagedByKoordinator = "Koordinator"
)
