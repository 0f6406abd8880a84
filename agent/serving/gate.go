package serving

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/pprof"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	// askTimeout bounds one authentication or authorization request.
	askTimeout = 10 * time.Second
	// believed is how long an answer of the cluster counts, for tokens and for rights that were granted; refusals count less long.
	tokenBelieved, grantBelieved, refusalBelieved = 10 * time.Second, 10 * time.Second, 5 * time.Second
	// retryInterval is how often the cluster is asked how it authenticates, while it does not say.
	retryInterval = 5 * time.Second
)

// gate lets clients pass whom the cluster authenticates and authorizes. It is shut until the cluster has said how.
type gate struct {
	behind http.Handler
	// filter is the handler with everything before it; nil while the gate is shut.
	filter atomic.Pointer[http.Handler]
	// clients verifies certificates of clients; nil while the gate is shut.
	clients atomic.Pointer[dynamiccertificates.CAContentProvider]
}

func newGate(behind http.Handler) *gate { return &gate{behind: behind} }

// ServeHTTP serves authorized requests.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	filter := g.filter.Load()
	if filter == nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "koordlet cannot authenticate clients yet: it has not read the certificate authorities from the API server", http.StatusServiceUnavailable)
		return
	}
	(*filter).ServeHTTP(w, r)
}

// authorities of client certificates; nil while none are known.
func (g *gate) authorities() *x509.CertPool {
	provider := g.clients.Load()
	if provider == nil {
		return nil
	}
	options, ok := (*provider).VerifyOptions()
	if !ok {
		return nil
	}
	return options.Roots
}

// open asks the cluster how clients are authenticated until it says so, and follows that until the context ends.
func (g *gate) open(ctx context.Context, config *rest.Config, ticks clock.WithTicker) {
	told := false
	for {
		following, err := g.configure(ctx, config, ticks)
		if err == nil {
			following(ctx)
			return
		}
		if !told {
			klog.FromContext(ctx).Error(err, "Failed to set up client authentication, will retry", "every", retryInterval)
			told = true
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.After(retryInterval):
		}
	}
}

// configure sets the filter up. It returns what follows the cluster's configuration.
func (g *gate) configure(ctx context.Context, config *rest.Config, ticks clock.WithTicker) (following func(context.Context), err error) {
	config = rest.CopyConfig(config)
	config.Timeout, config.QPS, config.Burst = askTimeout, 50, 100
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a client for authentication: %w", err)
	}
	const namespace, name, key = "kube-system", "extension-apiserver-authentication", "client-ca-file"
	if _, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
		return nil, fmt.Errorf("read the client certificate authorities: %w", err)
	}
	authorities, err := dynamiccertificates.NewDynamicCAFromConfigMapController("koordlet-clients", namespace, name, key, client)
	if err != nil {
		return nil, fmt.Errorf("watch the client certificate authorities: %w", err)
	}
	known := newIdentities(client.AuthenticationV1(), authorities, ticks)
	handler := (&door{identities: known, rights: newRights(client.AuthorizationV1(), ticks), behind: g.behind}).handler()
	provider := dynamiccertificates.CAContentProvider(authorities)
	g.clients.Store(&provider)
	g.filter.Store(&handler)
	return func(ctx context.Context) { authorities.Run(ctx, 1) }, nil
}

// health is where the health of the process is asked for.
var health = map[string]bool{"/healthz": true, "/livez": true, "/readyz": true}

// handler sends questions about health to what is open to everybody, and everything else through the gate.
func (s *Server) handler(open http.Handler, gate *gate) http.Handler {
	if s.options.Profiling {
		mux := http.NewServeMux()
		mux.Handle("/", gate.behind)
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		gate.behind = mux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if health[r.URL.Path] {
			open.ServeHTTP(w, r)
			return
		}
		gate.ServeHTTP(w, r)
	})
}
