// Package app assembles koord-bridge: its engines, the connection to the cluster, leader election, and the secured port.
package app

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"

	"koordinator.sh/koord/bridge/engine"
	"koordinator.sh/koord/bridge/exchange"
	"koordinator.sh/koord/bridge/hadoop/ipc"
	"koordinator.sh/koord/bridge/holdings"
	"koordinator.sh/koord/bridge/slurm"
	"koordinator.sh/koord/bridge/yarn"
	"koordinator.sh/koord/securedport"
)

// Run runs koord-bridge until ctx ends. Losing the lease is an error: the process is to be started again.
func Run(ctx context.Context, options *Options) error {
	if err := options.Validate(); err != nil {
		return err
	}
	engines, err := newEngines(options)
	if err != nil {
		return err
	}
	config, err := restConfig(options)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(config, "serving"))
	if err != nil {
		return fmt.Errorf("create the client: %w", err)
	}
	access, err := securedport.AwaitAPIServer(ctx, client, options.port(), options.Kubeconfig)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	mgr, err := newManager(ctx, config, options)
	if err != nil {
		return err
	}
	server, err := securedport.New(ctx, client, options.port(), access)
	if err != nil {
		return err
	}
	server.Ready = append(server.Ready, mgr.GetCache().WaitForCacheSync)
	for _, e := range engines {
		if err := mgr.Add(newWorker(mgr, e, options)); err != nil {
			return errors.Join(fmt.Errorf("add engine %s: %w", e.Name(), err), server.Close())
		}
	}
	if err := mgr.Add(server); err != nil {
		return errors.Join(fmt.Errorf("add the secured port: %w", err), server.Close())
	}
	return errors.Join(mgr.Start(ctx), server.Close())
}

// newEngines are the engines that are configured.
func newEngines(options *Options) ([]engine.Engine, error) {
	var engines []engine.Engine
	if options.Slurm {
		engines = append(engines, slurm.NewEngine(slurm.Options{
			Conf: options.SlurmConf, PartitionPrefix: options.SlurmPartitionPrefix, Timeout: options.EngineTimeout,
		}))
	}
	if options.YARNConfDir == "" {
		return engines, nil
	}
	clusters, err := yarn.LoadClusters(options.YARNConfDir)
	if err != nil {
		return nil, err
	}
	if options.YARNProtocol == protocolREST {
		if err := yarn.CheckWeb(clusters); err != nil {
			return nil, err
		}
	}
	connect, err := connectYARN(options)
	if err != nil {
		return nil, err
	}
	for _, cluster := range clusters {
		engines = append(engines, connect(cluster))
	}
	return engines, nil
}

// connectYARN returns how to make the engine of a cluster.
func connectYARN(options *Options) (func(yarn.Cluster) engine.Engine, error) {
	if options.YARNProtocol == protocolREST {
		authorities, err := readAuthorities(options.YARNCAFile)
		if err != nil {
			return nil, err
		}
		return func(cluster yarn.Cluster) engine.Engine {
			return yarn.NewRESTEngine(cluster, yarn.RESTOptions{User: options.YARNUser, Authorities: authorities, Timeout: options.EngineTimeout})
		}, nil
	}
	caller := yarn.Caller{User: options.YARNUser}
	if options.YARNTokenFile != "" {
		caller.Token = func() (*ipc.Token, error) { return readToken(options.YARNTokenFile) }
		if _, err := caller.Token(); err != nil {
			return nil, err
		}
	}
	return func(cluster yarn.Cluster) engine.Engine {
		return yarn.NewEngine(cluster, caller, options.EngineTimeout)
	}, nil
}

// readAuthorities reads certificates in PEM; nil without a file.
func readAuthorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--yarn-ca-file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("--yarn-ca-file %q: there is no certificate in it", file)
	}
	return pool, nil
}

// readToken reads the first token of a file that ResourceManagers take.
func readToken(file string) (*ipc.Token, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--yarn-token-file: %w", err)
	}
	tokens, err := ipc.ParseTokenFile(content)
	if err != nil {
		return nil, fmt.Errorf("--yarn-token-file %q: %w", file, err)
	}
	for _, token := range tokens {
		if token.Kind == yarn.TokenKind {
			return token, nil
		}
	}
	return nil, fmt.Errorf("--yarn-token-file %q: it has no %s", file, yarn.TokenKind)
}

// worker fills the holdings and exchanges with one engine, on the leader.
type worker struct {
	manager  ctrl.Manager
	exchange *exchange.Exchange
	ledger   *holdings.Ledger
}

func newWorker(mgr ctrl.Manager, e engine.Engine, options *Options) *worker {
	w := &worker{manager: mgr}
	w.ledger = holdings.NewLedger(e.Agent, func() { w.exchange.Wake() })
	w.exchange = exchange.New(e, mgr.GetClient(), w.ledger, options.settings(), mgr.GetEventRecorder(component))
	return w
}

// Start works until ctx ends.
func (w *worker) Start(ctx context.Context) error {
	if err := w.ledger.Watch(ctx, w.manager.GetCache()); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if err := w.exchange.WatchNodes(ctx, w.manager.GetCache()); err != nil {
		return err
	}
	return w.exchange.Start(ctx)
}

// restConfig is the connection to the API server.
func restConfig(options *Options) (*rest.Config, error) {
	load := rest.InClusterConfig
	if options.Kubeconfig != "" {
		load = func() (*rest.Config, error) { return clientcmd.BuildConfigFromFlags("", options.Kubeconfig) }
	}
	config, err := load()
	if err != nil {
		return nil, fmt.Errorf("load the kubeconfig: %w", err)
	}
	config.QPS, config.Burst = options.QPS, options.Burst
	config.UserAgent = component
	return config, nil
}
