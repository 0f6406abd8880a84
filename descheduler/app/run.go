package app

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/securedport"
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
	access, err := securedport.AwaitAPIServer(ctx, client, options.port(), s.kubeconfig)
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
	server, err := securedport.New(ctx, client, options.port(), access)
	if err != nil {
		return err
	}
	server.ServeDebugging(s.profiling)
	server.Ready = append(server.Ready, mgr.GetCache().WaitForCacheSync)
	environment, err := newEnvironment(config, mgr, loaded)
	if err != nil {
		return errors.Join(err, server.Close())
	}
	if environment.scheduler, err = newSchedulerClient(config, options, server.Bundle); err != nil {
		return errors.Join(err, server.Close())
	}
	if err := assemble(ctx, environment); err != nil {
		return errors.Join(err, server.Close())
	}
	if err := mgr.Add(server); err != nil {
		return errors.Join(fmt.Errorf("add the secured port: %w", err), server.Close())
	}
	return errors.Join(mgr.Start(ctx), server.Close())
}
