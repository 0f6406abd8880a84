package evacuation

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Movers are the user names in the namespace of the system whose evictions are let through.
func Movers(namespace string) []string {
	return []string{serviceaccount.MakeUsername(namespace, "koord-descheduler"), serviceaccount.MakeUsername(namespace, "koordlet")}
}

// AddToManager serves the handler on the manager's webhook server, in every replica.
func AddToManager(ctx context.Context, mgr ctrl.Manager, namespace string) error {
	register()
	err := mgr.GetFieldIndexer().IndexField(ctx, &schedulingv1alpha1.PodMigrationJob{}, byPod, podsOf)
	if err != nil {
		return fmt.Errorf("index migration jobs by their pods: %w", err)
	}
	mgr.GetWebhookServer().Register(Path, &admission.Webhook{Handler: &Handler{
		Decoder: admission.NewDecoder(mgr.GetScheme()), Movers: Movers(namespace), Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Clock: clock.RealClock{},
	}})
	return nil
}

// podsOf is the UID of a job's pod.
func podsOf(object client.Object) []string {
	job, ok := object.(*schedulingv1alpha1.PodMigrationJob)
	if !ok || job.Spec.PodRef == nil || job.Spec.PodRef.UID == "" {
		return nil
	}
	return []string{string(job.Spec.PodRef.UID)}
}
