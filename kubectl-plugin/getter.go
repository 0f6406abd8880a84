package kubectlplugin

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/source/live"
)

// getter gives commands that ask the cluster through other libraries, such as Helm's, the connection that all commands have: what is
// wrong with a kubeconfig has the same code and hint, the program its name, and warnings are printed in the same way.
type getter struct {
	*genericclioptions.ConfigFlags
	session *session
}

// newGetter returns the getter of a session whose flags are set up.
func newGetter(s *session) getter {
	s.flags.WithWrapConfigFn(func(config *rest.Config) *rest.Config { return live.Prepare(config, s.liveOptions()) })
	return getter{ConfigFlags: s.flags, session: s}
}

// liveOptions are how the flags want a cluster to be talked to.
func (s *session) liveOptions() live.Options {
	connection := s.connection()
	return live.Options{
		UserAgent: connection.UserAgent, Warn: connection.Warn,
		Context: connection.Context, Cluster: connection.Cluster, User: connection.User,
	}
}

// connection is how the flags want a cluster to be talked to.
func (s *session) connection() Connection {
	warn := func(line string) { s.tell("Warning: %s", line) }
	if s.fullScreen {
		warn = nil
	}
	return Connection{
		Warn:      warn,
		UserAgent: "koordctl/" + s.Version.Version,
		Context:   *s.flags.Context, Cluster: *s.flags.ClusterName, User: *s.flags.AuthInfoName,
	}
}

// ToRESTConfig returns how the cluster is reached.
func (g getter) ToRESTConfig() (*rest.Config, error) {
	return live.ClientConfig(g.ToRawKubeConfigLoader(), g.session.liveOptions())
}

// ToDiscoveryClient returns a client that knows the cluster's resources.
func (g getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	if _, err := g.ToRESTConfig(); err != nil {
		return nil, err
	}
	return g.ConfigFlags.ToDiscoveryClient()
}

// ToRESTMapper returns what maps kinds to resources.
func (g getter) ToRESTMapper() (meta.RESTMapper, error) {
	if _, err := g.ToRESTConfig(); err != nil {
		return nil, err
	}
	return g.ConfigFlags.ToRESTMapper()
}
