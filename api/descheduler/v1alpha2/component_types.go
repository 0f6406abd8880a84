package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LeaderElectionConfiguration has the JSON of the type of this name in k8s.io/component-base/config/v1alpha1.
type LeaderElectionConfiguration struct {
	// LeaderElect lets one of several replicas work; default true.
	LeaderElect *bool `json:"leaderElect,omitempty"`
	// LeaseDuration is the time after which another replica takes over; default 15s.
	LeaseDuration metav1.Duration `json:"leaseDuration,omitzero"`
	// RenewDeadline is the time in which the leader must renew its lease; default 10s, less than LeaseDuration.
	RenewDeadline metav1.Duration `json:"renewDeadline,omitzero"`
	// RetryPeriod is the time between attempts; default 2s, less than RenewDeadline.
	RetryPeriod metav1.Duration `json:"retryPeriod,omitzero"`
	// ResourceLock is leases, the default and only value.
	ResourceLock string `json:"resourceLock,omitempty"`
	// ResourceName of the lease; default koord-descheduler.
	ResourceName string `json:"resourceName,omitempty"`
	// ResourceNamespace of the lease; default koordinator-system.
	ResourceNamespace string `json:"resourceNamespace,omitempty"`
}

// ClientConnectionConfiguration has the JSON of the type of this name in k8s.io/component-base/config/v1alpha1.
type ClientConnectionConfiguration struct {
	// Kubeconfig is the path of a kubeconfig file; in a cluster the service account is used when it is empty.
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// AcceptContentTypes is the Accept header of requests.
	AcceptContentTypes string `json:"acceptContentTypes,omitempty"`
	// ContentType of requests; default application/vnd.kubernetes.protobuf.
	ContentType string `json:"contentType,omitempty"`
	// QPS is the requests per second; default 50.
	QPS float32 `json:"qps,omitempty"`
	// Burst is the requests beyond QPS at once; default 100.
	Burst int32 `json:"burst,omitempty"`
}

// DebuggingConfiguration has the JSON of the type of this name in k8s.io/component-base/config/v1alpha1.
type DebuggingConfiguration struct {
	// EnableProfiling serves profiles at /debug/pprof; default true.
	EnableProfiling *bool `json:"enableProfiling,omitempty"`
	// EnableContentionProfiling profiles blocking too, with EnableProfiling; default true.
	EnableContentionProfiling *bool `json:"enableContentionProfiling,omitempty"`
}
