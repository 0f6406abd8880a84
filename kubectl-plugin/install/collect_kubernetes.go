package install

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"

	"koordinator.sh/koord/api/finding"
)

// schedulerMinor is the minor version of the kube-scheduler that koord-scheduler is built from.
const schedulerMinor = 36

// collectKubernetes looks whether koord-scheduler is supported on the API server's version.
func (c *collector) collectKubernetes(context.Context) error {
	server, err := c.client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("get the server version: %w", err)
	}
	c.judgeKubernetes(server.GitVersion)
	return nil
}

// judgeKubernetes follows https://kubernetes.io/releases/version-skew-policy/: kube-scheduler must not be newer than the API server, and
// may be up to one minor version older.
func (c *collector) judgeKubernetes(server string) {
	state := &c.status.Kubernetes
	state.Version, state.State = server, StateUnknown
	parsed, err := version.ParseGeneric(server)
	if err != nil {
		c.incomplete(fmt.Errorf("the server version cannot be read: %w", err))
		return
	}
	minor := parsed.Minor()
	if parsed.Major() == 1 && (minor == schedulerMinor || minor == schedulerMinor+1) {
		state.State = StateReady
		return
	}
	state.State = StateDegraded
	state.Detail = fmt.Sprintf("koord-scheduler is supported on 1.%d and 1.%d", schedulerMinor, schedulerMinor+1)
	c.find(finding.KubernetesSkew, fmt.Sprintf("the API server is Kubernetes %s, outside the version skew policy of kube-scheduler 1.%d, which koord-scheduler is built from",
		server, schedulerMinor), fmt.Sprintf("use Kubernetes 1.%d or 1.%d, or a release of koord-scheduler for this version", schedulerMinor, schedulerMinor+1))
}
