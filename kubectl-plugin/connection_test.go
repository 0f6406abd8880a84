package kubectlplugin

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live"
	"koordinator.sh/koord/source/live/livetest"
)

// asking are command lines of every command that asks a cluster, beside those about the nouns.
var asking = map[string]string{
	"check":               "check",
	"config apply":        "config apply -f testdata/connection/config.yaml --yes",
	"config diff":         "config diff",
	"config edit":         "config edit --yes",
	"config get":          "config get",
	"config history":      "config history",
	"config plan":         "config plan colocation-config.enable=false",
	"config rollback":     "config rollback --to 1 --yes",
	"config set":          "config set colocation-config.enable=false --yes",
	"config unset":        "config unset colocation-config --yes",
	"explain admission":   "explain admission -f testdata/admission-job.yaml",
	"explain eviction":    "explain eviction web-0 -n shop",
	"forecast evictions":  "forecast evictions",
	"forecast job":        "forecast job -f testdata/forecast-job.yaml",
	"forecast migrations": "forecast migrations",
	"install":             "install",
	"lint quotas":         "lint quotas -f testdata/quotas.yaml --cluster",
	"status":              "status",
	"uninstall":           "uninstall --yes",
	"top workloads":       "top workloads -A",
	"whatif drain":        "whatif drain worker-1",
	"whatif add-nodes":    "whatif add-nodes worker-1",
	"whatif config":       "whatif config colocation-config.enable=false",
	"whatif scale":        "whatif scale deployment/web --replicas 3 -n shop",
	"whatif quota":        "whatif quota analytics -n teams --min cpu=1",
	"forecast capacity":   "forecast capacity pod/web-0 -n shop",
	"why":                 "why pod/web-0 -n shop",
}

// notAsking are the commands that ask none, or report it in another way: the TUI on its screen, the sandbox of its own cluster.
var notAsking = []string{
	"codes", "completion bash", "completion fish", "completion install", "completion powershell", "completion zsh", "config explain", "config init", "config lint",
	"exit-codes", "help", "predict replay", "predict replay-jobs", "sandbox down", "sandbox kubeconfig", "sandbox list", "sandbox logs", "sandbox status", "sandbox up",
	"tui", "tutorial", "version",
}

// askingLines are asking and the commands about every noun.
func askingLines() map[string]string {
	lines := maps.Clone(asking)
	for _, v := range verbs() {
		for _, n := range nouns() {
			switch {
			case v.of(n) == nil:
			case v.name != topCommand:
				lines[commandOf(v, n.Name)] = commandOf(v, n.Name) + " one -n shop"
			case n.Namespaced:
				lines[commandOf(v, n.Many())] = commandOf(v, n.Many()) + " -A"
			default:
				lines[commandOf(v, n.Many())] = commandOf(v, n.Many())
			}
		}
	}
	return lines
}

// kubeconfigs of clusters that cannot be asked, and of one that permits nothing.
func brokenClusters(t *testing.T) map[string][]string {
	t.Helper()
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	denying := httptest.NewServer(http.HandlerFunc(deny))
	t.Cleanup(denying.Close)
	config := clientcmdapi.NewConfig()
	config.AuthInfos["eve"] = &clientcmdapi.AuthInfo{}
	for name, server := range map[string]string{"untrusted": untrusted.URL, "denying": denying.URL, "down": "https://127.0.0.1:1"} {
		config.Clusters[name] = &clientcmdapi.Cluster{Server: server}
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: "eve"}
	}
	config.CurrentContext = "denying"
	folder := t.TempDir()
	good, bad := filepath.Join(folder, "good"), filepath.Join(folder, "bad")
	if err := clientcmd.WriteToFile(*config, good); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, []byte("clusters: {"), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string][]string{
		"a wrong context":         {"--kubeconfig", good, "--context", "nowhere"},
		"a bad kubeconfig":        {"--kubeconfig", bad},
		"a server that is down":   {"--kubeconfig", good, "--context", "down"},
		"an untrusted server":     {"--kubeconfig", good, "--context", "untrusted"},
		"a server that forbids":   {"--kubeconfig", good, "--context", "denying"},
		"no kubeconfig of a file": {"--kubeconfig", filepath.Join(folder, "absent")},
	}
}

// deny refuses everything as RBAC does, but for what every user may ask.
func deny(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if r.URL.Path == "/version" {
		fmt.Fprint(w, `{"major":"1","minor":"36","gitVersion":"v1.36.3"}`)
		return
	}
	if parts[0] == "apis" && len(parts) <= 3 || parts[0] == "api" && len(parts) <= 2 {
		http.NotFound(w, r)
		return
	}
	verb := map[string]string{"GET": "get", "POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}[r.Method]
	livetest.Fail(w, http.StatusForbidden, metav1.StatusReasonForbidden,
		fmt.Sprintf("things is forbidden: User \"eve\" cannot %s resource \"things\" in API group \"\" at the cluster scope", verb))
}

// runAt executes a command line against the cluster that flags say.
func runAt(t *testing.T, line string, flags []string) result {
	t.Helper()
	var out, errOut strings.Builder
	options := Options{
		Name: "koordctl", Streams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, Clock: clock.RealClock{},
		Environ: []string{"EDITOR=true"},
		Connect: func(config clientcmd.ClientConfig, connection Connection) (source.Source, error) {
			return live.New(config, live.Options{Context: connection.Context, Cluster: connection.Cluster, User: connection.User}), nil
		},
	}
	err := Run(t.Context(), options, append(strings.Fields(line), flags...))
	return result{stdout: out.String(), stderr: errOut.String(), code: ExitCode(err)}
}

func TestEveryCommandSaysTheSameOfAConnection(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	want := map[string]struct {
		code finding.Code
		hint string
	}{
		"a wrong context":         {finding.ContextUnknown, "kubectl config get-contexts"},
		"a bad kubeconfig":        {finding.KubeconfigInvalid, "kubectl config view reads it the same way"},
		"a server that is down":   {finding.ClusterUnreachable, "kubectl config view --minify"},
		"an untrusted server":     {finding.CertificateRejected, "kubectl config view --minify"},
		"a server that forbids":   {finding.Forbidden, "kubectl auth can-i"},
		"no kubeconfig of a file": {finding.KubeconfigInvalid, "kubectl config view reads it the same way"},
	}
	for what, flags := range brokenClusters(t) {
		for command, line := range askingLines() {
			t.Run(what+"/"+command, func(t *testing.T) {
				got := runAt(t, line, flags)
				wantExit := ExitError
				if command == "config diff" || command == "config plan" {
					wantExit = ExitUsage // 1 means that there are differences
				}
				if got.code == ExitOK && what == "a server that forbids" && strings.Contains(got.stderr, "incomplete: ") {
					// What can be told in part says in the same words what it could not see.
					if !strings.Contains(got.stderr, "not permitted") || !strings.Contains(got.stderr, string(finding.Forbidden)) {
						t.Errorf("unexpected notes:\n%s", got.stderr)
					}
					return
				}
				if got.code != wantExit || !strings.Contains(got.stderr, "\n"+string(want[what].code)+" ") || !strings.Contains(got.stderr, "hint: "+want[what].hint) {
					t.Errorf("exit code %d, want %d with code %s and hint %q:\n%s", got.code, wantExit, want[what].code, want[what].hint, got.stderr)
				}
				if strings.Contains(got.stderr, "sandbox up") {
					t.Errorf("who has a kubeconfig is offered a sandbox:\n%s", got.stderr)
				}
			})
		}
	}
}

// TestANameIsUnknownWithoutAnAnswer: that no object has it cannot be said then.
func TestANameIsUnknownWithoutAnAnswer(t *testing.T) {
	clusters := brokenClusters(t)
	for what, want := range map[string]finding.Code{
		"a server that is down": finding.ClusterUnreachable, "an untrusted server": finding.CertificateRejected, "a server that forbids": finding.Forbidden,
	} {
		t.Run(what, func(t *testing.T) {
			got := runAt(t, "why web-0 -n shop", clusters[what])
			if got.code != ExitError || strings.Count(got.stderr, "error: ") != 1 || !strings.Contains(got.stderr, "\n"+string(want)+" ") || strings.Contains(got.stderr, "incomplete: ") {
				t.Errorf("exit code %d, want %d with code %s alone:\n%s", got.code, ExitError, want, got.stderr)
			}
		})
	}
}

// TestEveryCommandIsKnownToAskOrNot, so that a new one is tested too.
func TestEveryCommandIsKnownToAskOrNot(t *testing.T) {
	var got []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if !cmd.HasSubCommands() {
			got = append(got, strings.TrimPrefix(cmd.CommandPath(), cmd.Root().CommandPath()+" "))
		}
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	root := NewCommand(Options{Name: "koordctl"})
	root.InitDefaultCompletionCmd()
	walk(root)
	want := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(askingLines())), notAsking)))
	slices.Sort(got)
	for _, command := range got {
		if !slices.Contains(want, command) {
			t.Errorf("command %q is in neither list", command)
		}
	}
	for _, command := range want {
		if !slices.Contains(got, command) {
			t.Errorf("there is no command %q", command)
		}
	}
}
