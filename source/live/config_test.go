package live

import (
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func clientConfig(config clientcmdapi.Config) clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(config, &clientcmd.ConfigOverrides{})
}
