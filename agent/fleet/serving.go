package fleet

import (
	"context"

	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/serving"
	"koordinator.sh/koord/api/extension"
)

// port is the secured one that answers for all agents; nil when there is none.
type port struct {
	server *serving.Server
}

// listen opens the port; nil when the options have none.
func listen(ctx context.Context, opts Options) (*port, error) {
	if opts.Serving == nil {
		return nil, nil
	}
	asked := *opts.Serving
	asked.Name, asked.RESTConfig, asked.Clock = "simulated", opts.RESTConfig, opts.Clock
	server, err := serving.Listen(ctx, asked)
	if err != nil {
		return nil, err
	}
	return &port{server: server}, nil
}

// announce is where an agent answers.
func (p *port) announce() *extension.AgentServing {
	if p == nil {
		return nil
	}
	return &extension.AgentServing{Port: p.server.Port(), CertificateSHA256: p.server.Fingerprint()}
}

// run serves until the context ends.
func (p *port) run(ctx context.Context, f *fleet, c *connection.Clients) {
	if p == nil {
		return
	}
	options := diagnostics.Options{
		Explainer: &explainer{fleet: f, core: c.Core.CoreV1().RESTClient(), slo: c.SLO},
	}
	if err := p.server.Run(ctx, diagnostics.Open(options), diagnostics.Secured(options)); err != nil {
		klog.FromContext(ctx).Error(err, "Secure port of the simulated koordlets stopped serving")
	}
}
