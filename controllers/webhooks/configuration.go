package webhooks

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/configuration"
)

// ValidateConfigMapPath is the path of the webhook for the configuration.
const ValidateConfigMapPath = "/validate-configmap"

// configMap is the ConfigMap with the configuration.
func (o *Options) configMap() types.NamespacedName {
	name := o.ConfigMap
	if name == "" {
		name = configuration.DefaultConfigMapName
	}
	return types.NamespacedName{Namespace: o.Namespace, Name: name}
}

// validatingConfiguration is the webhook for one ConfigMap. While koord-manager does not answer, writes and deletions are allowed: the
// manager continues with the last valid configuration.
func (o *Options) validatingConfiguration(bundle []byte) admissionregistrationv1.ValidatingWebhook {
	name := o.configMap()
	return admissionregistrationv1.ValidatingWebhook{
		Name:              "validate-configmap.koordinator.sh",
		ClientConfig:      o.clientConfig(ValidateConfigMapPath, bundle),
		Rules:             namespaced("", "v1", "configmaps", []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete}),
		FailurePolicy:     new(admissionregistrationv1.Ignore),
		NamespaceSelector: within(name.Namespace),
		MatchConditions:   []admissionregistrationv1.MatchCondition{{Name: "the-configuration", Expression: named(name.Name)}},
	}
}

// named is true for requests about an object of a name. One that deletes a collection has none, and is judged object by object.
func named(name string) string {
	return fmt.Sprintf(`request.operation == "DELETE" ? oldObject.metadata.name == %[1]q : request.name == %[1]q`, name)
}
