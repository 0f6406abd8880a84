package pki

import (
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"koordinator.sh/koord/sandbox/state"
)

// admissionConfiguration has the API server show a client certificate to every webhook.
const admissionConfiguration = `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
  - name: MutatingAdmissionWebhook
    configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: %[1]q}
  - name: ValidatingAdmissionWebhook
    configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: %[1]q}
`

// ensureAdmission writes the configuration of the API server's admission, and the kubeconfig that it names.
func (b *Bundle) ensureAdmission(dir state.Dir, _ func() time.Time) error {
	config := clientcmdapi.NewConfig()
	config.AuthInfos["*"] = &clientcmdapi.AuthInfo{ClientCertificate: b.FrontProxy.CertFile, ClientKey: b.FrontProxy.KeyFile}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encode the kubeconfig of webhooks: %w", err)
	}
	kubeconfig := filepath.Join(dir.Config(), "webhooks.kubeconfig")
	if err := state.WriteFile(kubeconfig, data); err != nil {
		return err
	}
	b.AdmissionFile = filepath.Join(dir.Config(), "admission.yaml")
	return state.WriteFile(b.AdmissionFile, fmt.Appendf(nil, admissionConfiguration, kubeconfig))
}
