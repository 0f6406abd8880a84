package jobprediction

import (
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/controllers/jobinsight"
)

// AddToManager serves the handler on the manager's webhook server, in every replica, with what is known of jobs in a namespace.
func AddToManager(mgr ctrl.Manager, namespace string) {
	register()
	mgr.GetWebhookServer().Register(Path, &admission.Webhook{Handler: &Handler{
		Runs: jobinsight.NewRuns(mgr.GetAPIReader(), namespace, clock.RealClock{}), Decoder: admission.NewDecoder(mgr.GetScheme()),
	}})
}
