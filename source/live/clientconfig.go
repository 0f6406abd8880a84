package live

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// ClientConfig reads how a cluster is reached, for this source and for those that ask in another way. An error has the code of what is
// wrong with the kubeconfig, and the configuration is prepared as Prepare does.
func ClientConfig(loader clientcmd.ClientConfig, options Options) (*rest.Config, error) {
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, ConfigFailure(danglingContext(loader, options, err))
	}
	if raw, err := loader.RawConfig(); err == nil && len(raw.Clusters) == 0 && strings.HasSuffix(config.Host, clientcmdDefault) {
		return nil, ConfigFailure(clientcmd.ErrEmptyConfig)
	}
	return Prepare(config, options), nil
}

// Prepare returns a copy of a configuration that names the program, waits for no address that swallows packets, and has the API server's
// warnings handled as the options say.
func Prepare(config *rest.Config, options Options) *rest.Config {
	config = rest.CopyConfig(config)
	config.UserAgent = options.UserAgent
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	if config.DisableCompression = config.DisableCompression || loopback(config.Host); config.DisableCompression {
		config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return uncompressed{inner} })
	}
	config.WarningHandler = rest.NoWarnings{}
	if options.Warn != nil {
		config.WarningHandler = warner(options.Warn)
	}
	return config
}

// danglingContext says what is missing where client-go calls a kubeconfig empty although it has contexts.
func danglingContext(loader clientcmd.ClientConfig, options Options, err error) error {
	raw, rawErr := loader.RawConfig()
	if !clientcmd.IsEmptyConfig(err) || rawErr != nil || len(raw.Contexts) == 0 {
		return err
	}
	name := cmp.Or(options.Context, raw.CurrentContext)
	if chosen, ok := raw.Contexts[name]; ok {
		return fmt.Errorf("cluster %q does not exist, which context %q names", cmp.Or(options.Cluster, chosen.Cluster), name)
	}
	return fmt.Errorf("context %q does not exist", name)
}

// loopback says whether the server is on this machine, where compressing costs more than it saves.
func loopback(host string) bool {
	server, err := url.Parse(host)
	if err != nil {
		return false
	}
	ip := net.ParseIP(server.Hostname())
	return server.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// uncompressed says that no answer is to be compressed. Where it is not said, the API server has the servers behind it compress their answers,
// and decompresses them itself.
type uncompressed struct{ http.RoundTripper }

// RoundTrip sends a request.
func (u uncompressed) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Accept-Encoding", "identity")
	return u.RoundTripper.RoundTrip(request)
}

// WrappedRoundTripper is what client-go looks through.
func (u uncompressed) WrappedRoundTripper() http.RoundTripper { return u.RoundTripper }

type warner func(string)

// HandleWarningHeader passes on the text of a warning.
func (w warner) HandleWarningHeader(code int, _ string, text string) {
	if code == 299 && text != "" {
		w(text)
	}
}
