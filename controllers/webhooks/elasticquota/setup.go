package elasticquota

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/controllers/webhooks/access"
	"koordinator.sh/koord/decision/admission/quotaadmission"
)

// Paths of the handlers.
const (
	MutatePath   = "/mutate-scheduling-sigs-k8s-io-v1alpha1-elasticquota"
	ValidatePath = "/validate-scheduling-sigs-k8s-io-v1alpha1-elasticquota"
)

// AddToManager serves the handlers on the manager's webhook server, in every replica, from its cache of quotas and pods.
func AddToManager(ctx context.Context, mgr ctrl.Manager, options quotaadmission.Options, reviews *access.Reviewer) error {
	if err := IndexPods(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	informer, err := mgr.GetCache().GetInformer(ctx, &schedulingsigsv1alpha1.ElasticQuota{})
	if err != nil {
		return fmt.Errorf("watch quotas: %w", err)
	}
	registry := NewRegistry(clock.RealClock{})
	registration, err := informer.AddEventHandler(registry)
	if err != nil {
		return fmt.Errorf("watch quotas: %w", err)
	}
	decoder := admission.NewDecoder(mgr.GetScheme())
	validator := &Validator{Registry: registry, Decoder: decoder, Options: options, Pods: Pods{Cached: mgr.GetClient(), Live: mgr.GetAPIReader()}}
	if options.Protect {
		validator.Access, validator.Nodes = reviews, mgr.GetClient()
	}
	server := mgr.GetWebhookServer()
	server.Register(MutatePath, &admission.Webhook{Handler: synced(registration, &Mutator{Registry: registry, Decoder: decoder})})
	server.Register(ValidatePath, &admission.Webhook{Handler: synced(registration, validator)})
	return nil
}

var errUnsynced = errors.New("the quota cache is not synced yet; try again later")

// synced answers nothing before all quotas are known.
func synced(registration toolscache.ResourceEventHandlerRegistration, handler admission.Handler) admission.Handler {
	return admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		if !registration.HasSynced() {
			return admission.Errored(http.StatusServiceUnavailable, errUnsynced)
		}
		return handler.Handle(ctx, request)
	})
}
