package kubectlplugin

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source/live/livetest"
)

// TestWrongFlagsAndArgumentsAreUsageErrors: they are told before the cluster is asked, with exit code 2 and the way to the help.
func TestWrongFlagsAndArgumentsAreUsageErrors(t *testing.T) {
	tests := map[string]string{
		// line: the error
		"top nodes --nope":                            "unknown flag: --nope",
		"top nodes -o":                                "flag needs an argument: 'o' in -o",
		"top nodes worker-1 -l pool=shared":           "names and --selector cannot be used together",
		"top nodes -l =":                              `--selector "="`,
		"top nodes --interval 100ms":                  `invalid argument "100ms" for "--interval" flag: must be at least 1s`,
		"top nodes --interval soon":                   `invalid argument "soon" for "--interval" flag`,
		"top nodes pod/web-0":                         `"pod/web-0": the name of a node is required: NAME or node/NAME`,
		"top nodes a/b/c":                             `"a/b/c": must be NAME or node/NAME`,
		"top pods web-0 -A":                           "names and --all-namespaces cannot be used together",
		"top pods shop/web-0 spark/driver":            "all names must be in the same namespace",
		"top pods shop/web-0 -n spark":                `namespace "shop" of the name and --namespace "spark" differ`,
		"top pods --field-selector spec":              "invalid selector",
		"top pods --node reservation/x":               `invalid argument "reservation/x" for "--node" flag: must be NAME or node/NAME`,
		"top recommendations web -l a=b":              "names and --selector cannot be used together",
		"explain node":                                "the node's name is required",
		"explain node worker-1 gpu":                   `resource "gpu": must be batch-cpu,`,
		"explain node worker-1 --parts -1":            "--parts -1: must be 0 to 1000",
		"explain node worker-1 --parts 1001":          "--parts 1001: must be 0 to 1000",
		"explain node worker-1 --fail-on fatal":       `--fail-on "fatal": must be error, warning or info`,
		"explain pod":                                 "exactly one pod name is required, got 0",
		"explain pod a b":                             "exactly one pod name is required, got 2",
		"explain pod web-0 --nodes 5001":              "--nodes 5001: must be 0 to 5000",
		"explain pod node/worker-1":                   `"node/worker-1": the name of a pod is required`,
		"explain pod web-0 --fail-on all":             `--fail-on "all"`,
		"explain reservation":                         "exactly one reservation name is required, got 0",
		"explain reservation shop/nightly":            `"shop/nightly": the name of a reservation is required: NAME or reservation/NAME`,
		"explain workers":                             "exactly one workers name is required, got 0",
		"explain job":                                 "exactly one job name is required, got 0",
		"explain recommendation":                      "exactly one recommendation name is required, got 0",
		"explain recommendation web --pods 2000":      "--pods 2000: must be 0 to 1000",
		"explain migration":                           "exactly one migration name is required, got 0",
		"explain migration shop/one":                  `"shop/one": the name of a migration is required: NAME or migration/NAME`,
		"explain qos pod":                             "exactly one pod name is required, got 0",
		"explain qos node":                            `unknown command "node" for "koordctl explain qos": must be pod`,
		"explain qos pod web-0 -o nope":               `output format "nope"`,
		"forecast evictions a b":                      "at most one node name is allowed, got 2",
		"forecast evictions pod/a":                    `"pod/a": the name of a node is required`,
		"forecast evictions a --node b":               `node "a" and --node "b" differ`,
		"forecast evictions --candidates 1001":        "--candidates 1001: must be 0 to 1000",
		"forecast nothing":                            `unknown command "nothing" for "koordctl forecast": must be capacity, evictions, job or migrations`,
		"audit node":                                  "exactly one node name is required, got 0",
		"audit node a --tail 2049":                    "--tail 2049: must be 1 to 2048",
		"audit node a -o svg":                         `output format "svg"`,
		"codes 1 2":                                   "at most one code is allowed, got 2",
		"codes --lang fr":                             `--lang "fr": must be en or zh`,
		"codes 12345":                                 `code "12345": must be KOORD followed by four digits`,
		"why":                                         "exactly one code, name or TYPE/NAME is required, got 0",
		"why pod":                                     `"pod": must be a code, a name, or TYPE/NAME where TYPE is node, pod, `,
		"why NONSENSE":                                `code "NONSENSE": must be KOORD followed by four digits`,
		"why pod/x --depth 0":                         "--depth 0: must be 1 to 3",
		"version -o xml":                              `output format "xml": must be json or yaml`,
		"version two":                                 `"koordctl version" takes no arguments, got "two"`,
		"tui now":                                     `"koordctl tui" takes no arguments, got "now"`,
		"top nodes --color pink":                      `--color "pink": must be auto, always or never`,
		"top nodes -v 11":                             "-v 11: must be 0 to 10",
		"top nodes -v -1":                             "-v -1: must be 0 to 10",
		"top nodes --request-timeout later":           `--request-timeout "later"`,
		"config":                                      "a command is required: apply,",
		"config get foo":                              `unknown key "foo"`,
		"config get a b":                              "at most one key path is allowed, got 2",
		"config explain":                              "exactly one key path is required, got 0",
		"config set colocation-config.enable":         `"colocation-config.enable": must be KEY.PATH=VALUE`,
		"config set":                                  "at least one",
		"config unset":                                "at least one",
		"config plan a=1 -f x":                        "KEY.PATH=VALUE, --filename and --revision cannot be used together",
		"config diff a=1 --revision 2":                "KEY.PATH=VALUE, --filename and --revision cannot be used together",
		"config apply":                                "must specify --filename",
		"config init now":                             `"koordctl config init" takes no arguments, got "now"`,
		"predict":                                     "a command is required: replay",
		"predict replay":                              "must specify --filename",
		"predict replay -f x --pods-per-node 0":       "--pods-per-node 0: must be at least 1",
		"predict replay -f x --profile nope":          "--profile: ",
		"predict replay -f x --horizon 1s":            "--horizon 1s: must be at least",
		"install --dry-run=often":                     `--dry-run "often": must be none, client or server`,
		"install --export --wait":                     "--export cannot be combined with --dry-run, --wait or --output",
		"install --timeout 0s":                        "--timeout must be positive",
		"install nothing":                             `"koordctl install" takes no arguments, got "nothing"`,
		"uninstall --dry-run=all":                     `--dry-run "all": must be none, client or server`,
		"completion install here":                     `"koordctl completion install" takes no arguments, got "here"`,
		"nonsense":                                    `unknown command "nonsense"`,
		"tpo":                                         `unknown command "tpo", did you mean top or tui?`,
		"forecats evictions":                          `unknown command "forecats", did you mean forecast?`,
		"status --fail-on never":                      `--fail-on "never"`,
		"status -o svg":                               `output format "svg": must be one of`,
		"config plan colocation-config.enable=f -o x": `output format "x"`,
	}
	for line, want := range tests {
		t.Run(line, func(t *testing.T) {
			server := cluster()
			var edit []func(*Options)
			if strings.HasPrefix(line, "config") {
				edit = append(edit, with(newCabinet()))
			}
			got := run(t, server, line, edit...)
			if got.code != ExitUsage || !strings.HasPrefix(got.stderr, "error: ") || !strings.Contains(got.stderr, want) {
				t.Errorf("exit code %d, want 2 and %q:\n%s", got.code, want, got.stderr)
			}
			if !strings.Contains(got.stderr, "\nhint: ") {
				t.Errorf("no hint:\n%s", got.stderr)
			}
			if got.stdout != "" {
				t.Errorf("printed all the same:\n%s", got.stdout)
			}
			if asked := server.Requests(); len(asked) > 0 {
				t.Errorf("the cluster was asked %q", asked)
			}
		})
	}
}

// TestObjectsThatAreNotThereAreNotFound: the nearest name is offered, and the code says that it is no other failure.
func TestObjectsThatAreNotThereAreNotFound(t *testing.T) {
	tests := map[string]struct{ wantErr, wantHint string }{
		"top nodes worker-11":                          {`node "worker-11" not found, did you mean "worker-1"?`, "koordctl top nodes"},
		"top nodes worker-1 nowhere":                   {`node "nowhere" not found`, "koordctl top nodes"},
		"top pods web-9 -n shop":                       {`pod "web-9" not found in namespace "shop", did you mean "web-0"?`, "koordctl top pods -n shop"},
		"top pods spark/executor-7":                    {`pod "executor-7" not found in namespace "spark", did you mean "executor-1"?`, "koordctl top pods -n spark"},
		"top recommendations wep -n shop":              {`recommendation "wep" not found in namespace "shop", did you mean "web"?`, "koordctl top recommendations -n shop"},
		"top workers trini -n shop":                    {`workers "trini" not found in namespace "shop", did you mean "trino"?`, "koordctl top workers -n shop"},
		"events workers trini -n shop":                 {`workers "trini" not found in namespace "shop", did you mean "trino"?`, "kubectl get elasticworkers -n shop"},
		"explain node worker-4":                        {`node "worker-4" not found, did you mean "worker-`, "koordctl top nodes"},
		"explain node nowhere features":                {`node "nowhere" not found`, "koordctl top nodes"},
		"explain pod hugs -n shop":                     {`pod "hugs" not found in namespace "shop", did you mean "huge"?`, "koordctl top pods -n shop"},
		"explain pod huge -n spark":                    {`pod "huge" not found in namespace "spark"`, "koordctl top pods -n spark"},
		"explain qos pod nobody -n shop":               {`pod "nobody" not found in namespace "shop"`, "koordctl top pods -n shop"},
		"explain job webb -n shop":                     {`job "webb" not found in namespace "shop", did you mean "web"?`, "kubectl get jobs -n shop"},
		"explain workers trini -n shop":                {`workers "trini" not found in namespace "shop", did you mean "trino"?`, "kubectl get elasticworkers.scheduling.koordinator.sh -n shop"},
		"explain recommendation cart2 -n shop":         {`recommendation "cart2" not found in namespace "shop", did you mean "cart"?`, "koordctl top recommendations -n shop"},
		"explain reservation nightlyy":                 {`reservation "nightlyy" not found, did you mean "nightly"?`, "kubectl get reservations.scheduling.koordinator.sh"},
		"forecast evictions worker-9":                  {`node "worker-9" not found`, "koordctl top nodes"},
		"audit node worker-9":                          {`node "worker-9" not found`, "koordctl top nodes"},
		"why pod/hugs -n shop":                         {`pod "hugs" not found in namespace "shop", did you mean "huge"?`, "koordctl top pods -n shop"},
		"why nonsense":                                 {`no object that can be explained is named "nonsense" in namespace "shop"`, "koordctl top pods -A"},
		"why KOORD9999":                                {`code "KOORD9999" not found`, "koordctl codes"},
		"config get colocation-config --node worker-9": {`node "worker-9" not found`, "koordctl top nodes"},
		"config rollback --to 77 --yes":                {"revision 77 not found", "koordctl config history"},
	}
	for line, tc := range tests {
		t.Run(line, func(t *testing.T) {
			server := completeCluster(t)
			server.Diagnostics = nil // it answers about whatever it is asked
			var edit []func(*Options)
			if strings.HasPrefix(line, "config") {
				edit = append(edit, with(newCabinet()))
			}
			got := run(t, server, line, edit...)
			for _, want := range []string{"error: " + tc.wantErr, "\nhint: " + tc.wantHint, "\n" + string(finding.NotFound) + " "} {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("no %q in:\n%s", want, got.stderr)
				}
			}
			if got.code != ExitError || got.stdout != "" {
				t.Errorf("exit code %d, printed %q", got.code, got.stdout)
			}
		})
	}
}

// TestWhatIsNotPermittedIsNamed: what a command cannot do without is an error in the words of kubectl auth can-i.
func TestWhatIsNotPermittedIsNamed(t *testing.T) {
	tests := map[string]struct {
		denied             []string
		wantErr, wantHint  string
		withoutDiagnostics bool
	}{
		"top nodes":                     {denied: []string{"list nodes"}, wantErr: "list nodes: not permitted", wantHint: "kubectl auth can-i list nodes"},
		"top pods -n shop":              {denied: []string{"list pods"}, wantErr: `list pods in namespace "shop": not permitted`, wantHint: "kubectl auth can-i list pods -n shop"},
		"top pods -A":                   {denied: []string{"list pods"}, wantErr: "list pods: not permitted", wantHint: "kubectl auth can-i list pods -A; -n NAMESPACE shows a namespace you may read"},
		"top recommendations -n shop":   {denied: []string{"list recommendations"}, wantErr: `list recommendations.analysis.koordinator.sh in namespace "shop": not permitted`, wantHint: "kubectl auth can-i list recommendations.analysis.koordinator.sh -n shop"},
		"top workers -n shop":           {denied: []string{"list elasticworkers"}, wantErr: `list elasticworkers.scheduling.koordinator.sh in namespace "shop": not permitted`, wantHint: "kubectl auth can-i list elasticworkers.scheduling.koordinator.sh -n shop"},
		"explain node worker-1":         {denied: []string{"get nodes"}, withoutDiagnostics: true, wantErr: `get nodes "worker-1": not permitted`, wantHint: "kubectl auth can-i get nodes"},
		"explain pod huge -n shop":      {denied: []string{"get pods"}, withoutDiagnostics: true, wantErr: `get pods "huge" in namespace "shop": not permitted`, wantHint: "kubectl auth can-i get pods -n shop"},
		"explain recommendation web":    {denied: []string{"list recommendations"}, wantErr: "list recommendations.analysis.koordinator.sh", wantHint: "kubectl auth can-i list recommendations"},
		"explain qos pod web-1 -n shop": {denied: []string{"list pods"}, wantErr: `list pods in namespace "shop": not permitted`, wantHint: "kubectl auth can-i list pods -n shop"},
		"forecast evictions":            {denied: []string{"list nodes"}, wantErr: "list nodes: not permitted", wantHint: "kubectl auth can-i list nodes"},
		"explain reservation nightly": {
			denied: []string{"create podexplanations"}, wantErr: `explain reservation "nightly", which only koord-scheduler can: you do not have permission to create podexplanations`,
			wantHint: "kubectl auth can-i create podexplanations.diagnostics.koordinator.sh -n shop",
		},
	}
	for line, tc := range tests {
		t.Run(line, func(t *testing.T) {
			server := completeCluster(t)
			server.Denied = tc.denied
			if tc.withoutDiagnostics {
				server.Diagnostics = nil
			}
			got := run(t, server, line)
			for _, want := range []string{"error: " + tc.wantErr, "\nhint: " + tc.wantHint, "\n" + string(finding.Forbidden) + " "} {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("no %q in:\n%s", want, got.stderr)
				}
			}
			if got.code != ExitError || got.stdout != "" {
				t.Errorf("exit code %d, printed %q", got.code, got.stdout)
			}
		})
	}
}

// TestAServerThatFailsIsNotASuccess: neither an error of the server, nor an answer that ends early, nor one of another kind is taken
// for an empty cluster.
func TestAServerThatFailsIsNotASuccess(t *testing.T) {
	for _, code := range []int{http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusUnauthorized, http.StatusGatewayTimeout} {
		for _, v := range verbs() {
			for _, n := range nouns() {
				if v.of(n) == nil {
					continue
				}
				line := commandOf(v, n.Name) + " one"
				t.Run(fmt.Sprintf("%d %s", code, line), func(t *testing.T) {
					got := run(t, &livetest.Server{Broken: code}, line)
					if got.code != ExitError || got.stdout != "" || !strings.HasPrefix(got.stderr, "error: ") {
						t.Errorf("%+v", got)
					}
				})
			}
		}
	}
}

// TestAClusterWithoutTheSystemSaysSo: nothing of the system is installed, and what needs nothing of it works.
func TestAClusterWithoutTheSystemSaysSo(t *testing.T) {
	for line, want := range map[string]struct {
		code int
		text string
	}{
		"top nodes":              {ExitOK, "the server doesn't have this resource type"},
		"top pods -A":            {ExitOK, "the server doesn't have this resource type"},
		"top recommendations":    {ExitError, string(finding.NotInstalled)},
		"explain node worker-1":  {ExitOK, "this cluster has no diagnostics API"},
		"explain pod huge":       {ExitOK, "this cluster has no diagnostics API"},
		"explain recommendation": {ExitUsage, "exactly one recommendation name"},
		"forecast evictions":     {ExitOK, "koordlet was not asked"},
	} {
		server := cluster()
		server.NoCRDs = true
		got := run(t, server, line)
		if got.code != want.code || !strings.Contains(got.stdout+got.stderr, want.text) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s%s", line, got.code, want.code, want.text, got.stdout, got.stderr)
		}
	}
}
