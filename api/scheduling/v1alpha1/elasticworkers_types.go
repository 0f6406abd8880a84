package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ElasticWorkers sizes the workers of an engine, such as Trino or Spark, to what nodes offer of the resources that the workers request.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=elasticworkers,singular=elasticworkers,shortName=ew
// +kubebuilder:printcolumn:name="Target",type="string",JSONPath=".spec.targetRef.name"
// +kubebuilder:printcolumn:name="Min",type="integer",JSONPath=".spec.minReplicas"
// +kubebuilder:printcolumn:name="Max",type="integer",JSONPath=".spec.maxReplicas"
// +kubebuilder:printcolumn:name="Current",type="integer",JSONPath=".status.currentReplicas"
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".status.desiredReplicas"
// +kubebuilder:printcolumn:name="LimitedBy",type="string",JSONPath=".status.limitedBy"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type ElasticWorkers struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ElasticWorkersSpec   `json:"spec"`
	Status ElasticWorkersStatus `json:"status,omitempty,omitzero"`
}

// ElasticWorkersList is a list of ElasticWorkers.
//
// +kubebuilder:object:root=true
type ElasticWorkersList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ElasticWorkers `json:"items"`
}

// ElasticWorkersSpec says what is sized, within which bounds, and how workers are taken away.
//
// +kubebuilder:validation:XValidation:rule="self.minReplicas <= self.maxReplicas",message="minReplicas must not exceed maxReplicas"
// +kubebuilder:pruning:PreserveUnknownFields
type ElasticWorkersSpec struct {
	// TargetRef is the object with a scale subresource whose pods are the workers.
	TargetRef ElasticWorkersTarget `json:"targetRef"`
	// MinReplicas is the least number of workers, whatever nodes offer.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=0
	MinReplicas int32 `json:"minReplicas"`
	// MaxReplicas is the greatest number of workers.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MaxReplicas int32 `json:"maxReplicas"`
	// HeadroomPercent of the workers that would fit is left to other pods.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=10
	// +optional
	HeadroomPercent *int32 `json:"headroomPercent,omitempty"`
	// HorizonSeconds is how far ahead predictions of batch and mid resources count: workers are not placed on what is predicted to go
	// within it. 0 counts what is offered now.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	// +kubebuilder:default=900
	// +optional
	HorizonSeconds *int32 `json:"horizonSeconds,omitempty"`
	// ScaleUp bounds how fast workers are added. By default, at most 10 every 60 s, without stabilization.
	// +optional
	ScaleUp *ElasticWorkersRate `json:"scaleUp,omitempty"`
	// ScaleDown bounds how fast workers are taken away. By default, at most 10 every 60 s, after fewer have been wanted for 300 s.
	// +optional
	ScaleDown *ElasticWorkersRate `json:"scaleDown,omitempty"`
	// Drain is what happens to a worker before it is taken away. Without it, the target is scaled down at once.
	// +optional
	Drain *ElasticWorkersDrain `json:"drain,omitempty"`
	// Suspend leaves the target and its pods as they are.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// ElasticWorkersTarget names an object in the same namespace.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ElasticWorkersTarget struct {
	// APIVersion of the object.
	// +kubebuilder:validation:MinLength=1
	APIVersion string `json:"apiVersion"`
	// Kind of the object.
	// +kubebuilder:validation:MinLength=1
	Kind string `json:"kind"`
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// ElasticWorkersRate bounds changes in one direction.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ElasticWorkersRate struct {
	// Pods is the most by which one step changes the number of workers.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Pods *int32 `json:"pods,omitempty"`
	// PeriodSeconds is the least time between two steps.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	// +optional
	PeriodSeconds *int32 `json:"periodSeconds,omitempty"`
	// StabilizationSeconds is how long a change in this direction must have been wanted without a break. The step then goes to the
	// most moderate number wanted in that time.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	// +optional
	StabilizationSeconds *int32 `json:"stabilizationSeconds,omitempty"`
}

// ElasticWorkersDrain is how a worker finishes its work.
//
// +kubebuilder:validation:XValidation:rule="has(self.http) != has(self.evict)",message="exactly one of http and evict is required"
// +kubebuilder:pruning:PreserveUnknownFields
type ElasticWorkersDrain struct {
	// HTTP asks the worker itself, as Trino and Presto are asked to shut down, or a coordinator, as Dask's scheduler is asked to retire it.
	// +optional
	HTTP *ElasticWorkersDrainHTTP `json:"http,omitempty"`
	// Evict leaves it to the termination of the pod: its preStop hooks, within terminationGracePeriodSeconds, as Spark executors are
	// decommissioned. PodDisruptionBudgets hold as for an eviction.
	// +optional
	Evict *ElasticWorkersDrainEvict `json:"evict,omitempty"`
	// DeadlineSeconds after which a worker is taken away though it has not finished.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +kubebuilder:default=600
	// +optional
	DeadlineSeconds *int32 `json:"deadlineSeconds,omitempty"`
}

// ElasticWorkersDrainEvict has no settings.
type ElasticWorkersDrainEvict struct{}

// ElasticWorkersDrainHTTP is a request to the address of the pod, or to a Service. Redirects are not followed; certificates are not
// verified, as in probes. Pods on the host network are not asked.
//
// In paths, body and answerContains, $(POD_NAME), $(POD_NAMESPACE) and $(POD_IP) stand for those of the worker, and $$ for $, as in the
// environment of a container. The address is without brackets, also that of IPv6.
//
// +kubebuilder:validation:XValidation:rule="has(self.port) != has(self.service)",message="exactly one of port and service is required"
// +kubebuilder:validation:XValidation:rule=`[self.path, has(self.body) ? self.body : "", has(self.answerContains) ? self.answerContains : "", has(self.done) ? self.done.path : ""].all(text, text.matches("^([^$]|[$][$]|[$][(]POD_(NAME|NAMESPACE|IP)[)]|[$][^$(])*[$]?$"))`,message="only $(POD_NAME), $(POD_NAMESPACE) and $(POD_IP) can stand in path, body, answerContains and done.path; write $$( for $("
// +kubebuilder:pruning:PreserveUnknownFields
type ElasticWorkersDrainHTTP struct {
	// Method of the request.
	// +kubebuilder:validation:Enum=GET;PUT;POST
	// +kubebuilder:default=PUT
	// +optional
	Method string `json:"method,omitempty"`
	// Scheme of the requests.
	// +kubebuilder:validation:Enum=HTTP;HTTPS
	// +kubebuilder:default=HTTP
	// +optional
	Scheme corev1.URIScheme `json:"scheme,omitempty"`
	// Port of the pod.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port int32 `json:"port,omitempty"`
	// Service is asked in place of the worker: one of its pods that is ready, such as the engine's coordinator.
	// +optional
	Service *ElasticWorkersService `json:"service,omitempty"`
	// Path of the request, such as /v1/info/state.
	// +kubebuilder:validation:Pattern=`^/[^\s#]*$`
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path"`
	// Body of the request, such as "SHUTTING_DOWN" with its quotation marks.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Body string `json:"body,omitempty"`
	// AnswerContains is what the answer must contain, for an engine that answers a request that it does not fulfil with success, too. The
	// worker is asked again where it does not.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	AnswerContains string `json:"answerContains,omitempty"`
	// ContentType of the body.
	// +kubebuilder:default="application/json"
	// +kubebuilder:validation:Pattern=`^[!-~ ]*$`
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ContentType string `json:"contentType,omitempty"`
	// Headers of all requests, such as X-Trino-User.
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Headers []ElasticWorkersHeader `json:"headers,omitempty"`
	// Done is the request whose answer says that the worker has finished. Without it, the worker has finished when one of its
	// containers ends.
	// +optional
	Done *ElasticWorkersDone `json:"done,omitempty"`
}

// ElasticWorkersService names a Service in the same namespace. It must have a selector, so that none but pods are asked.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ElasticWorkersService struct {
	// Name of the Service.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Port of the Service; the request goes to its targetPort.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// ElasticWorkersHeader is a header of a request.
type ElasticWorkersHeader struct {
	// +kubebuilder:validation:Pattern="^[-A-Za-z0-9]+$"
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`
	// +kubebuilder:validation:Pattern=`^[!-~ ]*$`
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value"`
}

// ElasticWorkersDone is a GET request to the same port, of the worker or of the Service.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ElasticWorkersDone struct {
	// Path of the request.
	// +kubebuilder:validation:Pattern=`^/[^\s#]*$`
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path"`
	// Answer that says that the worker has finished, compared with the whole body without the space around it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Answer string `json:"answer"`
}
