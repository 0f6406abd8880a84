package kubectlplugin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
)

// TestEveryNameIsCompleted: names of objects of every kind, of flags and of kubeconfigs, for the words before the cursor.
func TestEveryNameIsCompleted(t *testing.T) {
	const files, noFiles, keepOrder = ":0", ":4", ":36"
	tests := map[string]struct {
		words []string
		want  []string
	}{
		"commands":                   {[]string{"aud"}, []string{"audit\tShow what node agents did", noFiles}},
		"nouns":                      {[]string{"top", "no"}, []string{"nodes\tShow nodes: offered, requested, used, load and age of the data", noFiles}},
		"nodes to audit":             {[]string{"audit", "node", "worker-2"}, []string{"worker-2", noFiles}},
		"nodes to audit, shortly":    {[]string{"audit", "node/worker-2"}, []string{"node/worker-2", noFiles}},
		"one node only":              {[]string{"audit", "node", "worker-1", ""}, []string{noFiles}},
		"nodes to forecast":          {[]string{"forecast", "evictions", "worker-3"}, []string{"worker-3", noFiles}},
		"a node of a flag":           {[]string{"forecast", "evictions", "--node", "worker-1"}, []string{"worker-1", noFiles}},
		"pods of QoS":                {[]string{"explain", "qos", "pod", "we"}, []string{"web-0", "web-1", "web-2", "web-3", noFiles}},
		"pods of another namespace":  {[]string{"explain", "pod", "-n", "spark", ""}, []string{"executor-1", noFiles}},
		"reservations":               {[]string{"explain", "reservation", ""}, []string{"nightly", "uid-of-rebalance", noFiles}},
		"after their type":           {[]string{"explain", "reservation", "resv/n"}, []string{"resv/nightly", noFiles}},
		"recommendations":            {[]string{"top", "recommendations", "-n", "shop", "c"}, []string{"cart", noFiles}},
		"namespaces":                 {[]string{"top", "pods", "--namespace", ""}, []string{"shop", "spark", noFiles}},
		"contexts":                   {[]string{"top", "nodes", "--context", ""}, []string{"test", noFiles}},
		"clusters":                   {[]string{"top", "nodes", "--cluster", "t"}, []string{"test", noFiles}},
		"users":                      {[]string{"top", "nodes", "--user", ""}, []string{"eve", noFiles}},
		"no user of that name":       {[]string{"top", "nodes", "--user", "bob"}, []string{noFiles}},
		"colours":                    {[]string{"top", "nodes", "--color", ""}, []string{"auto", "always", "never", noFiles}},
		"orders":                     {[]string{"top", "pods", "--sort-by", ""}, []string{"cpu", "cpu-request", "memory", "memory-request", "name", "node", "qos", noFiles}},
		"formats":                    {[]string{"top", "pods", "-o", ""}, []string{"custom-columns", "go-template", "json", "jsonpath", "kyaml", "name", "template", "wide", "yaml", noFiles}},
		"fields of nodes":            {[]string{"top", "nodes", "--field-selector", "spec"}, []string{"spec.unschedulable=false", "spec.unschedulable=true", ":6"}},
		"severities":                 {[]string{"explain", "node", "worker-1", "--fail-on", ""}, []string{"info", "warning", "error", noFiles}},
		"dry runs":                   {[]string{"install", "--dry-run", ""}, []string{noFiles}},
		"the value of a dry run":     {[]string{"install", "--dry-run="}, []string{"none", "client", "server", noFiles}},
		"languages":                  {[]string{"codes", "--lang", ""}, []string{"en", "zh", noFiles}},
		"what version prints":        {[]string{"version", "-o", ""}, []string{"json", "yaml", noFiles}},
		"profiles, with their words": {[]string{"predict", "replay", "--profile", "seas"}, nil},
		"a number":                   {[]string{"explain", "pod", "web-0", "--nodes", ""}, []string{noFiles}},
		"a file":                     {[]string{"config", "apply", "-f", ""}, []string{files}},
		"keys":                       {[]string{"config", "get", "colo"}, []string{"colocation-config.", ":6"}},
		"nothing after a code":       {[]string{"why", "KOORD0101", ""}, []string{noFiles}},
		"nothing of a version":       {[]string{"version", ""}, []string{noFiles}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := runWords(t, completeCluster(t), append([]string{"__complete"}, tc.words...))
			lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
			if tc.want == nil { // proposed with a description
				if len(lines) < 2 || !strings.Contains(lines[0], "\t") {
					t.Errorf("nothing is proposed: %q", lines)
				}
				return
			}
			if diff := cmp.Diff(tc.want, lines); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tc.words, diff)
			}
		})
	}
}

// TestCompletionKeepsQuietWhereItCannotAnswer: a shell shows what is printed in the middle of what is typed.
func TestCompletionKeepsQuietWhereItCannotAnswer(t *testing.T) {
	denied := completeCluster(t)
	denied.Denied = []string{"list pods", "list nodes", "list namespaces", "list reservations", "list recommendations"}
	for _, words := range [][]string{
		{"top", "nodes", ""}, {"explain", "pod", ""}, {"top", "pods", "-n", ""}, {"explain", "reservation", ""}, {"explain", "recommendation", ""},
		{"why", "pod/"}, {"audit", "node", ""}, {"forecast", "evictions", ""},
	} {
		got := runWords(t, denied, append([]string{"__complete"}, words...))
		if strings.TrimSpace(got.stdout) != ":1" || strings.Contains(got.stderr, "error:") {
			t.Errorf("%q: %q, %q, want the directive of an error alone", words, got.stdout, got.stderr)
		}
	}
}

func TestCompletionIsInstalledForKubectl(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "kubectl_complete-koord")
	if err := os.WriteFile(program, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, cluster(), "completion install --dir "+dir, func(o *Options) { o.Environ = []string{"PATH=/bin:" + dir + "/"} })
	if got.code != ExitOK || got.stdout != program+" written\n" || got.stderr != "" {
		t.Errorf("%+v", got)
	}
	info, err := os.Stat(program)
	if err != nil || info.Mode().Perm()&0o111 != 0o111 {
		t.Errorf("%v, %v, want a program", info.Mode(), err)
	}
	// kubectl itself is a program of this name that prints what it is given.
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte("#!/bin/sh\necho \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := exec.CommandContext(t.Context(), program, "top", "no des")
	script.Env = []string{"PATH=" + dir + ":/bin:/usr/bin"}
	out, err := script.CombinedOutput()
	if err != nil || string(out) != "koord __complete top no des\n" {
		t.Errorf("%v, %q", err, out)
	}
}

func TestCompletionSaysWhenKubectlWillNotFindIt(t *testing.T) {
	dir := t.TempDir()
	got := run(t, cluster(), "completion install --dir "+dir, func(o *Options) { o.Environ = []string{"PATH=/bin:/usr/bin"} })
	if got.code != ExitOK || got.stderr != dir+" is not in PATH; kubectl will not find it there\n" {
		t.Errorf("%+v", got)
	}
	if got := run(t, cluster(), "completion install --dir /nowhere/at/all"); got.code != ExitError || !strings.Contains(got.stderr, `error: write "/nowhere/at/all/kubectl_complete-koord"`) {
		t.Errorf("%+v", got)
	}
}

// TestScriptsForShellsNameTheProgram: cobra's scripts complete what the user types.
func TestScriptsForShellsNameTheProgram(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		got := run(t, cluster(), "completion "+shell)
		if got.code != ExitOK || !strings.Contains(got.stdout, "koordctl") || got.stderr != "" {
			t.Errorf("%s: exit code %d, %d bytes, %q", shell, got.code, len(got.stdout), got.stderr)
		}
	}
}

// TestWithoutACommandHelpIsShownWhereNobodyLooks: the TUI needs a terminal on both sides.
func TestWithoutACommandHelpIsShownWhereNobodyLooks(t *testing.T) {
	for name, terminal := range map[string]Terminal{"a pipe": {}, "output alone": {Output: true}, "input alone": {Input: true}} {
		got := run(t, cluster(), "", func(o *Options) { o.Terminal = terminal })
		for _, want := range []string{"Observe and explain:", "Install and configure:", "Other:", "koordctl [command] --help"} {
			if !strings.Contains(got.stdout, want) || got.code != ExitOK {
				t.Errorf("%s: no %q: %+v", name, want, got)
			}
		}
	}
}

func TestKubeconfigsThatCannotBeReadCompleteNothing(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	bad := writeFile(t, "bad", "clusters: {")
	for _, flag := range []string{"--context", "--cluster", "--user", "--namespace"} {
		got := runAt(t, "__complete top nodes --kubeconfig "+bad+" "+flag+" x", nil)
		if !strings.HasSuffix(strings.TrimSpace(got.stdout), ":1") {
			t.Errorf("%s: %+v", flag, got)
		}
	}
	if _, err := clientcmd.LoadFromFile(bad); err == nil {
		t.Error("the kubeconfig is good")
	}
}
