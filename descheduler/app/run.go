package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/outage"
)

// Run runs koord-descheduler until ctx ends. Losing the lease is an error: the process is to be started again.
func Run(ctx context.Context, options *Options) error {
	if err := options.Validate(); err != nil {
		return err
	}
	loaded, err := loadConfiguration(ctx, options, metrics.Registry)
	if err != nil {
		return err
	}
	s := settingsOf(options, &loaded.current().DeschedulerConfiguration)
	config, err := restConfig(s)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(config, "serving"))
	if err != nil {
		return fmt.Errorf("create the client: %w", err)
	}
	access, err := awaitAPIServer(ctx, client, options, s)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	mgr, err := newManager(ctx, config, s)
	if err != nil {
		return err
	}
	server, err := newServer(ctx, client, options, access)
	if err != nil {
		return err
	}
	server.serveDebugging(s.profiling)
	server.ready = append(server.ready, mgr.GetCache().WaitForCacheSync)
	environment, err := newEnvironment(config, mgr, loaded)
	if err != nil {
		return errors.Join(err, server.close())
	}
	if environment.scheduler, err = newSchedulerClient(config, options, server.bundle); err != nil {
		return errors.Join(err, server.close())
	}
	if err := assemble(ctx, environment); err != nil {
		return errors.Join(err, server.close())
	}
	if err := mgr.Add(server); err != nil {
		return errors.Join(fmt.Errorf("add the secured port: %w", err), server.close())
	}
	return errors.Join(mgr.Start(ctx), server.close())
}

// awaitAPIServer returns how clients are authenticated and authorized, once the API server answers. Meanwhile the secured port says that
// the process lives and is not ready.
func awaitAPIServer(ctx context.Context, client kubernetes.Interface, options *Options, s settings) (*access, error) {
	listener, err := outage.ListenTLS(ctx, options.address(), component)
	if err != nil {
		return nil, err
	}
	probes := outage.Serve(listener)
	defer probes.Close()
	if err := outage.Await(ctx, client.Discovery().RESTClient(), probes.Failed); err != nil {
		return nil, err
	}
	var found *access
	err = outage.Until(ctx, probes.Failed, func() (err error) {
		found, err = delegate(s.kubeconfig)
		return err
	})
	return found, err
}

// address to listen on.
func (o *Options) address() string {
	return net.JoinHostPort(o.BindAddress.String(), strconv.Itoa(o.SecurePort))
}
