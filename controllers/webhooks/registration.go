package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
)

const (
	fieldManager = "koord-manager"
	// registrationDelay is how long the webhook still sees every pod after the policy changed: until every API server has it.
	registrationDelay = 5 * time.Second
	// awaitRetry is how soon the registration is looked at again while the chart's objects or the certificate do not exist,
	// and checkInterval how often afterwards, for the certificate may be renewed.
	awaitRetry    = 2 * time.Second
	checkInterval = 30 * time.Second
)

// registrar keeps policy and webhooks registered for the profiles there are. Nothing is written that is as it should be.
type registrar struct {
	client  client.Client
	options Options
	// served is true where the API server serves policies, also when they are not used: one that another manager left goes.
	served bool
	// unserved says why policies are not used; empty when they are.
	unserved string
	// rights to write policies; nil where all are taken for granted.
	rights *rights
	// changed is when the policy was last written, as far as this process knows.
	changed time.Time
}

// Reconcile brings the registration in line with the profiles. Pods are never between two stools: when the policy changes,
// the webhook sees every pod with co-location first, then the policy is written, and the webhook is narrowed again when
// the policy has settled.
func (r *registrar) Reconcile(ctx context.Context, _ reconcile.Request) (ctrl.Result, error) {
	var owner admissionregistrationv1.MutatingWebhookConfiguration
	err := r.client.Get(ctx, types.NamespacedName{Name: ConfigurationName}, &owner)
	bundle := r.options.CABundle()
	if apierrors.IsNotFound(err) || err == nil && len(bundle) == 0 {
		return ctrl.Result{RequeueAfter: awaitRetry}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("get mutatingwebhookconfiguration %q: %w", ConfigurationName, err)
	}
	if r.served && r.rights != nil {
		if err := r.rights.ask(ctx); err != nil {
			return ctrl.Result{}, err
		}
	}
	compiled, err := r.compile(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	publish(compiled)
	inSync, err := r.policyInSync(ctx, &compiled, &owner)
	if err != nil {
		return ctrl.Result{}, err
	}
	labels := r.labelPolicy()
	labelsInSync, err := labels.inSync(ctx, r.client, &owner)
	if err != nil {
		return ctrl.Result{}, err
	}
	inSync = inSync && labelsInSync
	scopes := compiled.Scopes(r.options.profileOptions().ExemptNamespaces)
	if r.changed.IsZero() && !asked(&owner, scopes) {
		// The leader before this one may have ended a moment after it wrote the policy.
		r.changed = r.options.Clock.Now()
	}
	remaining := registrationDelay - r.options.Clock.Since(r.changed)
	if !inSync || remaining > 0 {
		scopes = []policy.Scope{{Namespaces: policy.OutsideOf(r.options.profileOptions().ExemptNamespaces), Condition: compiled.Everywhere()}}
	}
	namespaces, err := readQuotaNamespaces(ctx, r.client)
	if err != nil {
		return ctrl.Result{}, err
	}
	mutating := r.options.mutating(scopes, compiled.Repeatable, namespaces, bundle)
	validating := r.options.validating(bundle, inSync && remaining <= 0 && labels.policy != nil, namespaces)
	if err := r.applyWebhooks(ctx, &owner, mutating, validating); err != nil {
		return ctrl.Result{}, err
	}
	if !inSync {
		if err := labels.write(ctx, r, &owner); err != nil {
			return ctrl.Result{}, err
		}
		if err := r.applyPolicy(ctx, &compiled, &owner); err != nil {
			return ctrl.Result{}, err
		}
		r.changed, remaining = r.options.Clock.Now(), registrationDelay
	}
	if remaining > 0 {
		return ctrl.Result{RequeueAfter: remaining}, nil
	}
	return ctrl.Result{RequeueAfter: checkInterval}, nil
}

func (r *registrar) compile(ctx context.Context) (policy.Compilation, error) {
	profiles, err := readProfiles(ctx, r.client)
	if err != nil {
		return policy.Compilation{}, err
	}
	classes, err := readClasses(ctx, r.client)
	if err != nil {
		return policy.Compilation{}, err
	}
	return policy.Compile(profiles, classes, policy.Options{Options: r.options.profileOptions(), Unserved: r.whyNoProfiles()}), nil
}

// policyInSync reports whether policy and binding are what the profiles compile to. Where policies are not served or not
// allowed there are none to look at.
func (r *registrar) policyInSync(ctx context.Context, compiled *policy.Compilation, owner client.Object) (bool, error) {
	if !r.uses(policy.Name) {
		return true, nil
	}
	var live admissionregistrationv1.MutatingAdmissionPolicy
	var binding admissionregistrationv1.MutatingAdmissionPolicyBinding
	err := errors.Join(
		client.IgnoreNotFound(r.client.Get(ctx, types.NamespacedName{Name: policy.Name}, &live)),
		client.IgnoreNotFound(r.client.Get(ctx, types.NamespacedName{Name: policy.Name}, &binding)),
	)
	if err != nil {
		return false, fmt.Errorf("get the colocation profile policy: %w", err)
	}
	if compiled.Policy == nil {
		return live.Name == "" && binding.Name == "", nil
	}
	said := live.Annotations[policy.VerdictsAnnotation] == compiled.Policy.Annotations[policy.VerdictsAnnotation]
	return said && equality.Semantic.DeepEqual(live.Spec, compiled.Policy.Spec) && equality.Semantic.DeepEqual(binding.Spec, compiled.Binding.Spec) &&
		owns(owner, &live) && owns(owner, &binding), nil
}

// asked reports whether the webhooks for pods are registered for these scopes.
func asked(owner *admissionregistrationv1.MutatingWebhookConfiguration, scopes []policy.Scope) bool {
	var registered []policy.Scope
	for i := range owner.Webhooks {
		webhook := &owner.Webhooks[i]
		if service := webhook.ClientConfig.Service; service == nil || service.Path == nil || *service.Path != MutatePodPath || len(webhook.MatchConditions) != 1 {
			continue
		}
		registered = append(registered, policy.Scope{Namespaces: webhook.NamespaceSelector, Condition: webhook.MatchConditions[0].Expression})
	}
	return equality.Semantic.DeepEqual(registered, scopes)
}

func owns(owner, object client.Object) bool {
	for _, reference := range object.GetOwnerReferences() {
		if reference.UID == owner.GetUID() {
			return true
		}
	}
	return false
}

// applyPolicy writes policy and binding, or deletes them when nothing is left to do. They belong to the webhook
// configuration, so that they go with the chart.
func (r *registrar) applyPolicy(ctx context.Context, compiled *policy.Compilation, owner *admissionregistrationv1.MutatingWebhookConfiguration) error {
	if !r.uses(policy.Name) {
		return nil
	}
	if compiled.Policy == nil {
		meta := metav1.ObjectMeta{Name: policy.Name}
		return errors.Join(
			client.IgnoreNotFound(r.client.Delete(ctx, &admissionregistrationv1.MutatingAdmissionPolicyBinding{ObjectMeta: meta})),
			client.IgnoreNotFound(r.client.Delete(ctx, &admissionregistrationv1.MutatingAdmissionPolicy{ObjectMeta: meta})),
		)
	}
	if err := r.applyOwned(ctx, owner, compiled.Policy, compiled.Binding); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Applied the colocation profile policy", "policy", policy.Name, "profiles", len(compiled.Verdicts))
	return nil
}

// applyOwned writes objects that belong to the webhook configuration.
func (r *registrar) applyOwned(ctx context.Context, owner *admissionregistrationv1.MutatingWebhookConfiguration, objects ...client.Object) error {
	for _, object := range objects {
		object.SetOwnerReferences([]metav1.OwnerReference{{
			APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "MutatingWebhookConfiguration", Name: owner.Name, UID: owner.UID,
		}})
		object.SetLabels(map[string]string{"app.kubernetes.io/part-of": "koordinator", "app.kubernetes.io/managed-by": fieldManager})
		if err := r.apply(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// applyWebhooks writes both webhook configurations where they differ. The UID keeps an apply from recreating one that was just deleted
// with the chart.
func (r *registrar) applyWebhooks(ctx context.Context, owner *admissionregistrationv1.MutatingWebhookConfiguration, mutating []admissionregistrationv1.MutatingWebhook, validating []admissionregistrationv1.ValidatingWebhook) error {
	if !equality.Semantic.DeepEqual(owner.Webhooks, mutating) {
		if err := r.apply(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "MutatingWebhookConfiguration"},
			ObjectMeta: metav1.ObjectMeta{Name: owner.Name, UID: owner.UID}, Webhooks: mutating,
		}); err != nil {
			return err
		}
	}
	var live admissionregistrationv1.ValidatingWebhookConfiguration
	if err := r.client.Get(ctx, types.NamespacedName{Name: ConfigurationName}, &live); err != nil {
		return client.IgnoreNotFound(err)
	}
	if equality.Semantic.DeepEqual(live.Webhooks, validating) {
		return nil
	}
	return r.apply(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: live.Name, UID: live.UID}, Webhooks: validating,
	})
}
