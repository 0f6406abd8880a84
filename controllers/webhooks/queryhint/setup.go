package queryhint

import (
	"fmt"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/decision/scheduling/queryhint"
)

// Options of the hints.
type Options struct {
	// Enabled has them written.
	Enabled bool
	// Settings of the hints.
	Settings queryhint.Settings
	// Outlooks predict the memory of nodes; nil predicts nothing.
	Outlooks Outlooks
}

// AddToManager serves the handler on the manager's webhook server, in every replica.
func AddToManager(mgr ctrl.Manager, o Options) error {
	register()
	memory := NewNodeMemory(mgr.GetClient(), o.Outlooks, clock.RealClock{})
	if err := mgr.Add(memory); err != nil {
		return fmt.Errorf("add the memory of nodes: %w", err)
	}
	mgr.GetWebhookServer().Register(Path, &admission.Webhook{Handler: &Handler{
		Reader: mgr.GetClient(), Nodes: memory, Settings: o.Settings, Decoder: admission.NewDecoder(mgr.GetScheme()), Clock: clock.RealClock{},
	}})
	return nil
}
