package app

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"koordinator.sh/koord/outage"
)

// awaitAPIServer returns once the API server answers, or ctx ends. A scheduler that lost its lease because the API server was away
// is started again before that is back: put together then, it would go without the cluster's authentication configuration, or end
// again and be started later each time. Meanwhile its secure port says that it lives and is not ready.
func awaitAPIServer(ctx context.Context, opts *Options) error {
	kubeconfig := opts.Deprecated.Kubeconfig
	if opts.ConfigFile != "" {
		configuration, err := options.LoadConfigFromFile(klog.FromContext(ctx), opts.ConfigFile)
		if err != nil {
			return fmt.Errorf("read the configuration: %w", err)
		}
		kubeconfig = configuration.ClientConnection.Kubeconfig
	}
	config, err := clientcmd.BuildConfigFromFlags(opts.Master, kubeconfig)
	if err != nil {
		return fmt.Errorf("read the connection to the API server: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("prepare the client: %w", err)
	}
	if opts.SecureServing == nil || opts.SecureServing.BindPort == 0 || opts.SecureServing.Listener != nil {
		return outage.Await(ctx, client.Discovery().RESTClient(), nil)
	}
	address := net.JoinHostPort(opts.SecureServing.BindAddress.String(), strconv.Itoa(opts.SecureServing.BindPort))
	listener, err := outage.ListenTLS(ctx, address, "koord-scheduler")
	if err != nil {
		return err
	}
	probes := outage.Serve(listener)
	defer probes.Close()
	return outage.Await(ctx, client.Discovery().RESTClient(), probes.Failed)
}
