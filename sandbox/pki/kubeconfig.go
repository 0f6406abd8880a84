package pki

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"koordinator.sh/koord/sandbox/state"
)

// ContextName is the kubeconfig context of a sandbox.
func ContextName(sandbox string) string { return "koord-sandbox-" + sandbox }

// WriteKubeconfigs writes one kubeconfig for each of the cluster's users, and the administrator's own.
func (b *Bundle) WriteKubeconfigs(dir state.Dir, sandbox string, port int) error {
	for name, pair := range b.clients {
		config, err := b.kubeconfig(sandbox, port, pair)
		if err != nil {
			return err
		}
		path := KubeconfigFile(dir, name)
		if name == "admin" {
			path = dir.Kubeconfig()
		}
		data, err := clientcmd.Write(*config)
		if err != nil {
			return fmt.Errorf("encode kubeconfig of %q: %w", name, err)
		}
		if err := state.WriteFile(path, data); err != nil {
			return err
		}
	}
	return nil
}

// KubeconfigFile is the kubeconfig of one component.
func KubeconfigFile(dir state.Dir, component string) string {
	return filepath.Join(dir.PKI(), component+".kubeconfig")
}

// kubeconfig embeds the certificates, so that the file can be copied away.
func (b *Bundle) kubeconfig(sandbox string, port int, pair Pair) (*clientcmdapi.Config, error) {
	var contents [3][]byte
	for i, path := range []string{b.CAFile, pair.CertFile, pair.KeyFile} {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read certificate for kubeconfig: %w", err)
		}
		contents[i] = data
	}
	name := ContextName(sandbox)
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   fmt.Sprintf("https://127.0.0.1:%d", port),
		CertificateAuthorityData: contents[0],
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: contents[1], ClientKeyData: contents[2]}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return config, nil
}
