package webhooks

import (
	"context"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/controllers/webhooks/access"
	"koordinator.sh/koord/controllers/webhooks/configmap"
	"koordinator.sh/koord/controllers/webhooks/evacuation"
	"koordinator.sh/koord/controllers/webhooks/eviction"
	"koordinator.sh/koord/controllers/webhooks/jobprediction"
	"koordinator.sh/koord/controllers/webhooks/node"
	"koordinator.sh/koord/controllers/webhooks/queryhint"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/decision/admission/podvalidation/labelpolicy"
)

// ByObject restricts a manager's cache to the registration's own objects, and to what is read of others. A cache cannot be made for kinds
// that the API server does not serve: before Kubernetes 1.36, MutatingAdmissionPolicy is left out.
func ByObject(mapper meta.RESTMapper) (map[client.Object]cache.ByObject, error) {
	named := func(name string) cache.ByObject {
		return cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", name)}
	}
	out := map[client.Object]cache.ByObject{
		&admissionregistrationv1.MutatingWebhookConfiguration{}:   named(ConfigurationName),
		&admissionregistrationv1.ValidatingWebhookConfiguration{}: named(ConfigurationName),

		&admissionregistrationv1.ValidatingAdmissionPolicy{}:        named(labelpolicy.Name),
		&admissionregistrationv1.ValidatingAdmissionPolicyBinding{}: named(labelpolicy.Name),

		&policyv1.PodDisruptionBudget{}: {Transform: cache.TransformStripManagedFields()},
	}
	unserved, err := whyUnserved(mapper)
	if err != nil {
		return nil, err
	}
	if unserved == "" {
		out[&admissionregistrationv1.MutatingAdmissionPolicy{}] = named(policy.Name)
		out[&admissionregistrationv1.MutatingAdmissionPolicyBinding{}] = named(policy.Name)
	}
	return out, nil
}

// AddToManager adds the webhooks to the manager's server, which every replica serves, and the controller that keeps them
// registered, which the leader runs.
func AddToManager(ctx context.Context, mgr ctrl.Manager, o Options) error {
	register()
	o.complete()
	if o.Live == nil {
		o.Live = mgr.GetAPIReader()
	}
	for field, function := range quotaIndexes() {
		if err := mgr.GetFieldIndexer().IndexField(ctx, &schedulingsigsv1alpha1.ElasticQuota{}, field, function); err != nil {
			return fmt.Errorf("index quotas by %s: %w", field, err)
		}
	}
	reviews := access.NewReviewer(mgr.GetClient(), o.Clock)
	server, decoder := mgr.GetWebhookServer(), admission.NewDecoder(mgr.GetScheme())
	server.Register(MutatePodPath, &admission.Webhook{Handler: &podMutator{reader: mgr.GetClient(), options: o, decoder: decoder}})
	if !o.SkipResources {
		server.Register(OvercommitPodPath, &admission.Webhook{Handler: &podOvercommitter{reader: mgr.GetClient(), live: o.Live, decoder: decoder}})
	}
	if o.ValidateNodes {
		server.Register(node.ValidatePath, &admission.Webhook{Handler: &node.Validator{Decoder: decoder}})
	}
	if o.Nodes {
		server.Register(node.Path, &admission.Webhook{Handler: &node.Handler{Decoder: decoder}})
	}
	server.Register(ValidatePodPath, &admission.Webhook{Handler: &podValidator{
		reader: mgr.GetClient(), options: o.Validation, decoder: decoder, access: reviews,
	}})
	server.Register(ValidateConfigMapPath, &admission.Webhook{Handler: &configmap.Handler{
		Decoder: decoder, Reader: mgr.GetClient(), Context: configmap.ComponentContext(o.Live, o.Namespace), ConfigMap: o.configMap(),
		Leaving: configmap.Leaving(o.Live, o.Namespace, ConfigurationName),
	}})
	eviction.AddToManager(mgr, o.Evictions)
	if o.MigrateOnEviction {
		if err := evacuation.AddToManager(ctx, mgr, o.Namespace); err != nil {
			return err
		}
	}
	if o.QueryHints.Enabled {
		if err := queryhint.AddToManager(mgr, o.QueryHints); err != nil {
			return err
		}
	}
	if o.PredictJobs {
		jobprediction.AddToManager(mgr, o.Namespace)
	}
	if err := serveQuotas(ctx, mgr, &o, decoder, reviews); err != nil {
		return err
	}
	unserved, err := whyUnserved(mgr.GetRESTMapper())
	if err != nil {
		return err
	}
	r := &registrar{client: mgr.GetClient(), options: o, served: unserved == "", unserved: unserved}
	if r.served && !o.Policies {
		r.unserved = "policies are disabled"
	}
	return addRegistrar(mgr, r)
}

// whyUnserved says why policies cannot be used; empty when they can.
func whyUnserved(mapper meta.RESTMapper) (string, error) {
	_, err := mapper.RESTMapping(admissionregistrationv1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicy").GroupKind(), "v1")
	if meta.IsNoMatchError(err) {
		return "the API server does not serve MutatingAdmissionPolicy v1", nil
	}
	if err != nil {
		return "", fmt.Errorf("discover MutatingAdmissionPolicy: %w", err)
	}
	return "", nil
}

func addRegistrar(mgr ctrl.Manager, r *registrar) error {
	same := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: ConfigurationName}}}
	})
	looks := make(chan event.GenericEvent, 1)
	look := func() {
		select {
		case looks <- event.GenericEvent{Object: &admissionregistrationv1.MutatingWebhookConfiguration{}}:
		default: // one is waiting already
		}
	}
	look()
	if r.options.OnBundleChange != nil {
		r.options.OnBundleChange(look)
	}
	b := ctrl.NewControllerManagedBy(mgr).
		Named("admission").
		Watches(&configv1alpha1.ClusterColocationProfile{}, same, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.Predicate(predicate.AnnotationChangedPredicate{})))).
		Watches(&schedulingv1.PriorityClass{}, same).
		Watches(&schedulingsigsv1alpha1.ElasticQuota{}, same, builder.WithPredicates(claimsChange())).
		Watches(&admissionregistrationv1.MutatingWebhookConfiguration{}, same).
		Watches(&admissionregistrationv1.ValidatingWebhookConfiguration{}, same).
		WatchesRawSource(source.Channel(looks, same)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1})
	built, err := b.Build(r)
	if err != nil {
		return fmt.Errorf("add the webhook registration controller: %w", err)
	}
	watch := func(object client.Object) error { return built.Watch(source.Kind(mgr.GetCache(), object, same)) }
	r.rights = &rights{allowed: reviewer(mgr.GetClient()), watch: watch, found: map[string]bool{}}
	return nil
}
