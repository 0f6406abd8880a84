package manager

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"koordinator.sh/koord/certificate"
	"koordinator.sh/koord/controllers/colocationprofile"
	"koordinator.sh/koord/controllers/webhooks"
	"koordinator.sh/koord/controllers/webhooks/eviction"
	"koordinator.sh/koord/controllers/webhooks/queryhint"
	"koordinator.sh/koord/controllers/webhookserver"
	"koordinator.sh/koord/decision/admission/podvalidation"
	"koordinator.sh/koord/decision/admission/quotaadmission"
)

// webhookServer is the server of the admission webhooks, with the manager's own serving certificate. It does not listen
// before something is added to it.
func webhookServer(config *rest.Config, options *Options, serving *certificate.SecretProvider) (webhook.Server, error) {
	server := webhookserver.Options{Host: options.WebhookBindAddress, Port: options.WebhookPort, Certificate: serving.GetCertificate}
	if options.AuthenticateWebhookClients {
		client, err := kubernetes.NewForConfig(rest.AddUserAgent(config, "webhook-clients"))
		if err != nil {
			return nil, fmt.Errorf("set up client verification of the webhooks: %w", err)
		}
		if server.Clients, err = webhookserver.NewClients(client); err != nil {
			return nil, err
		}
	}
	return webhookserver.New(server), nil
}

// addAdmission adds the webhooks unless they are disabled.
func addAdmission(ctx context.Context, mgr ctrl.Manager, options *Options, serving *certificate.SecretProvider, outlooks queryhint.Outlooks) error {
	if options.WebhookPort == 0 {
		return nil
	}
	err := webhooks.AddToManager(ctx, mgr, webhooks.Options{
		Namespace:        options.ConfigNamespace,
		ServicePort:      int32(options.WebhookServicePort),
		CABundle:         serving.CurrentCABundle,
		OnBundleChange:   serving.OnChange,
		Policies:         options.AdmissionPolicies,
		Nodes:            options.NodeAdmission,
		ValidateNodes:    options.NodeValidation,
		SkipResources:    options.SkipMutatingResources,
		SkipResourceSpec: options.SkipExtendedResourceSpec,
		Validation: podvalidation.Options{
			SkipPriority: options.SkipValidatingPriority, RequireQuota: options.RequireQuota, AllowParentQuota: options.AllowParentQuota,
			ProtectQuotas: options.ProtectQuotas,
		},
		Quotas: quotaadmission.Options{
			UpdateResourceKeys: options.QuotaUpdateResourceKeys, GuaranteeUsage: options.QuotaGuaranteeUsage, AllowParentPods: options.AllowParentQuota,
			Protect: options.ProtectQuotas,
		},
		Evictions:         eviction.Options{OwnNode: options.RestrictAgents, BudgetPercent: options.EvictionBudgetPercent},
		MigrateOnEviction: options.MigrateOnEviction,
		QuotaTrees:        options.QuotaTrees,
		QueryHints:        queryhint.Options{Enabled: options.QueryHints, Settings: options.queryHintSettings(), Outlooks: outlooks},
		PredictJobs:       options.JobInsight && options.JobPredictions,
		ConfigMap:         options.SLOConfigName,
	})
	if err != nil {
		return fmt.Errorf("add the admission webhooks: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhooks", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return fmt.Errorf("add the readiness check of the webhooks: %w", err)
	}
	return nil
}

// addProfileController adds the controller that applies colocation profiles to existing pods, if it is enabled.
func addProfileController(mgr ctrl.Manager, options *Options) error {
	if !options.ColocationProfileController {
		return nil
	}
	if err := colocationprofile.AddToManager(mgr, []string{"kube-system", options.ConfigNamespace}); err != nil {
		return fmt.Errorf("add the colocation profile controller: %w", err)
	}
	return nil
}
