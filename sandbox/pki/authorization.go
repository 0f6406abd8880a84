package pki

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"koordinator.sh/koord/deploy"
	"koordinator.sh/koord/sandbox/state"
)

// simulatedGroup are the simulated koordlets, one process that is the agent of all simulated nodes and so cannot be held to one.
const simulatedGroup = "koord-sandbox:simulated-koordlets"

const (
	kubeconfigLine = "kubeConfigFile: /etc/kubernetes/nowhere.kubeconfig"
	koordletLine   = `- expression: request.user == "system:serviceaccount:` + Namespace + `:koordlet"`
)

// ensureAuthorization writes the configuration of the API server's authorization that operators are given, with the files of the
// sandbox, and an exception for the simulated koordlets.
func (b *Bundle) ensureAuthorization(dir state.Dir, _ func() time.Time) error {
	kubeconfig := filepath.Join(dir.Config(), "nowhere.kubeconfig")
	if err := state.WriteFile(kubeconfig, deploy.NowhereKubeconfig); err != nil {
		return err
	}
	text := string(deploy.Authorization)
	for _, replace := range []struct{ line, by string }{
		{kubeconfigLine, fmt.Sprintf("kubeConfigFile: %q", kubeconfig)},
		{koordletLine, fmt.Sprintf(`%s && !(%q in request.groups)`, koordletLine, simulatedGroup)},
	} {
		if strings.Count(text, replace.line) != 1 {
			return fmt.Errorf("write the authorization configuration of the API server: want %q exactly once in it", replace.line)
		}
		text = strings.Replace(text, replace.line, replace.by, 1)
	}
	b.AuthorizationFile = filepath.Join(dir.Config(), "authorization.yaml")
	return state.WriteFile(b.AuthorizationFile, []byte(text))
}
