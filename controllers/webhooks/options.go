package webhooks

import (
	"math/rand/v2"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/controllers/webhooks/eviction"
	"koordinator.sh/koord/controllers/webhooks/queryhint"
	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/decision/admission/podvalidation"
	"koordinator.sh/koord/decision/admission/quotaadmission"
)

// ConfigurationName is the name of the MutatingWebhookConfiguration and of the ValidatingWebhookConfiguration. The chart
// makes both without any webhook; the webhooks are added while koord-manager serves them, so that deleting the chart
// deletes them too.
const ConfigurationName = "koordinator-admission"

// Service is in front of the webhooks.
const Service = "koord-manager"

// Options of the webhooks.
type Options struct {
	// Namespace of the service and of everything else of the system; pods in it are never looked at.
	Namespace string
	// ServicePort is the port of the service that leads to the webhooks.
	ServicePort int32
	// CABundle returns what verifies the serving certificate, in PEM; empty while there is none.
	CABundle func() []byte
	// OnBundleChange has a function called when CABundle returns something else; nil never does. Without it the webhooks
	// follow within checkInterval.
	OnBundleChange func(call func())
	// Policies lets profiles be compiled to a MutatingAdmissionPolicy where the API server serves them.
	Policies bool
	// Nodes amplifies the allocatable of nodes whose annotation says so.
	Nodes bool
	// ValidateNodes refuses annotations and labels of nodes that cannot be read.
	ValidateNodes bool
	// SkipResources leaves the resources of all pods alone.
	SkipResources bool
	// SkipResourceSpec writes no annotation with the batch and mid resources.
	SkipResourceSpec bool
	// Validation of pods.
	Validation podvalidation.Options
	// Quotas are how ElasticQuotas are judged.
	Quotas quotaadmission.Options
	// Evictions are how those that node agents ask for are judged.
	Evictions eviction.Options
	// MigrateOnEviction has pods that ask for it migrated when others than koord-descheduler evict them.
	MigrateOnEviction bool
	// QueryHints are the scheduling hints for pods of query engines.
	QueryHints queryhint.Options
	// PredictJobs writes to pods of jobs how long they are expected to take.
	PredictJobs bool
	// QuotaTrees gives pods of a quota tree the nodes of the ElasticQuotaProfile that made the tree.
	QuotaTrees bool
	// ConfigMap is the name of the configuration, in Namespace; slo-controller-config when empty.
	ConfigMap string
	// Live reads from the API server itself, for a namespace so new that the cache does not have it.
	Live client.Reader
	// Clock by which changes settle; the real one when nil.
	Clock clock.PassiveClock
	// Chance draws a number from 0 to 99 for a profile with a probability; random when nil.
	Chance func(profile string) int
}

func (o *Options) complete() {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	o.Evictions.Namespace = o.Namespace
	if o.Chance == nil {
		o.Chance = func(string) int { return rand.IntN(100) }
	}
}

// profileOptions are what both ways of applying profiles share.
func (o *Options) profileOptions() colocationprofile.Options {
	return colocationprofile.Options{
		ExemptNamespaces: []string{"kube-system", o.Namespace}, SkipResources: o.SkipResources, SkipResourceSpec: o.SkipResourceSpec,
	}
}
