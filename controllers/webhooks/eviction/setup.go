package eviction

import (
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Options of the admission of evictions.
type Options struct {
	// Namespace of the system, in which the agents' ServiceAccount is and evictions are counted.
	Namespace string
	// OwnNode lets an agent evict pods of the node only that its token is bound to.
	OwnNode bool
	// BudgetPercent of the co-located pods may be evicted within the window; from 100 on nothing is bounded.
	BudgetPercent int
}

// Agent is the user name of the node agents.
func (o Options) Agent() string { return serviceaccount.MakeUsername(o.Namespace, "koordlet") }

// AddToManager serves the handler on the manager's webhook server, in every replica.
func AddToManager(mgr ctrl.Manager, o Options) {
	register()
	mgr.GetWebhookServer().Register(Path, &admission.Webhook{Handler: &Handler{
		Decoder: admission.NewDecoder(mgr.GetScheme()), Agent: o.Agent(), OwnNode: o.OwnNode, Cached: mgr.GetClient(), Live: mgr.GetAPIReader(),
		Budget: &Budget{
			Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Namespace: o.Namespace, Percent: o.BudgetPercent,
			Events: mgr.GetEventRecorder("evictions"), Clock: clock.RealClock{},
		},
	}})
}
